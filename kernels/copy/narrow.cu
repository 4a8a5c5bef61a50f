// copy/narrow: elements that are not whole words, by what they are made of.

extern "C" __global__ void __launch_bounds__(WORKGROUP) copy_narrow(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. Copy what is this invocation's turn.
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 part = (tile * ROWS + k) * WORKGROUP + thread;
    if (part < params.n) { output[part] = load_input(input, part); }
  }
}
