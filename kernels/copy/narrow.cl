// copy/narrow: elements that are not whole words, by what they are made of.

KERNEL void copy_narrow(ARGUMENTS) {
  const u32 tile = get_group_id(0);
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  output = output + params.output_offset;
  // 1. Copy what is this invocation's turn.
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 part = (tile * ROWS + k) * WORKGROUP + thread;
    if (part < params.n) { output[part] = load_input(input, part); }
  }
}
