// literature/scan/add_carry: the last launch of scan-then-propagate: what lies before a tile is combined with each of its elements. Reads and
// writes each element once. With tiles of one element it makes an inclusive scan of an exclusive one and its input.

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_add_carry(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. What lies before an element's tile comes first. Neighbouring invocations take neighbouring elements, and load all before they
  // store any: the buffers may be one, and a load would wait for each store before it.
  const u32 first = group * WORKGROUP * ROWS + thread;
  T ends[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 i = first + k * WORKGROUP;
    if (i < params.n) { ends[k] = combine(sums[i / TILE], input[i]); }
  }
  // 2. Write them.
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 i = first + k * WORKGROUP;
    if (i < params.n) { output[i] = ends[k]; }
  }
}
