// histogram/global: each element is counted in the output itself. Reads each element once.

extern "C" __global__ void __launch_bounds__(WORKGROUP) histogram_global(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each workgroup takes the tiles that are its turn.
  for (u32 tile = blockIdx.x; tile < params.tiles; tile += params.groups) {
    const u32 first = tile * WORKGROUP * ROWS + thread;
    u32 bins[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { bins[k] = load_input_word(input, min(first + k * WORKGROUP, params.n - 1u), 0u); }
    // 2. Count. A bin past the last one is not counted.
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      if (first + k * WORKGROUP < params.n && bins[k] < params.bins) { atomicAdd(&output[bins[k]], 1u); }
    }
  }
}
