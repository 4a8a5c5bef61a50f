// literature/scan/hillis_steele: one step of the scan by Hillis and Steele (1986; GPU Gems 3, 39.2.1) in global memory: each element is combined
// with the one `distance` before it. log2 n launches, from one buffer to another. Reads two elements and writes one for each.

// What is scanned. The first step takes it from the scan's input: an exclusive scan is an inclusive one of elements moved up by
// one, and the initial value comes first.
T step_element(__global const T *input, Params params, u32 i) {
  if (FIRST == 1u && EXCLUSIVE == 1u) {
    if (i == 0u) { return params.initial; }
    return input[i - 1u];
  }
  const T v = input[i];
  if (FIRST == 1u && i == 0u) { return combine(params.initial, v); }
  return v;
}

KERNEL void scan_hillis_steele(ARGUMENTS) {
  input += params.input_offset;
  output += params.output_offset;
  // Neighbouring invocations take neighbouring elements.
  const u32 first = get_group_id(0) * WORKGROUP * ROWS + get_local_id(0);
  // 1. What the elements are by now, each the sum of the `distance` elements up to it, and the sums of those before them. All are
  // loaded before any is stored: the compiler must take both buffers for one, and would have a load wait for each store before it.
  T sums[ROWS], before[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 i = first + k * WORKGROUP;
    if (i < params.n) {
      sums[k] = step_element(input, params, i);
      before[k] = step_element(input, params, i - min(i, params.distance));
    }
  }
  // 2. Together they are of twice as many.
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 i = first + k * WORKGROUP;
    if (i < params.n) {
      if (i >= params.distance) { sums[k] = combine(before[k], sums[k]); }
      output[i] = sums[k];
    }
  }
}
