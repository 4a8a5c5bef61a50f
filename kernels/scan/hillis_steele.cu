// scan/hillis_steele: one step of the scan by Hillis and Steele (1986; GPU Gems 3, 39.2.1) in global memory: each element is combined
// with the one `distance` before it. log2 n launches, from one buffer to another. Reads two elements and writes one for each.

// What is scanned. The first step takes it from the scan's input: an exclusive scan is an inclusive one of elements moved up by
// one, and the initial value comes first.
FUNCTION T step_element(const T *input, const Params &params, u32 i) {
  if (FIRST == 1u && EXCLUSIVE == 1u) {
    if (i == 0u) { return params.initial; }
    return input[i - 1u];
  }
  const T v = input[i];
  if (FIRST == 1u && i == 0u) { return combine(params.initial, v); }
  return v;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP)
scan_hillis_steele(const T *input, T *output, Params params) {
  admit_successor();
  follow_predecessor();
  input += params.input_offset;
  output += params.output_offset;
  // Neighbouring invocations take neighbouring elements.
  const u32 first = blockIdx.x * WORKGROUP * ROWS + threadIdx.x;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 i = first + k * WORKGROUP;
    if (i < params.n) {
      // 1. What the element is by now: the sum of the `distance` elements up to it.
      T v = step_element(input, params, i);
      // 2. With the sum of those before them it is of twice as many.
      if (i >= params.distance) { v = combine(step_element(input, params, i - params.distance), v); }
      output[i] = v;
    }
  }
}
