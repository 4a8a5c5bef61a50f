// histogram/global: each element is counted in the output itself. Reads each element once, and its weight if there are weights.

KERNEL void histogram_global(ARGUMENTS) {
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  // 1. Each workgroup takes the tiles that are its turn.
  for (u32 tile = get_group_id(0); tile < params.tiles; tile += params.groups) {
    const u32 first = tile * WORKGROUP * ROWS + thread;
    u32 bins[ROWS];
    u32 amounts[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 place = min(first + k * WORKGROUP, params.n - 1u);
      bins[k] = load_input_word(input, place, 0u);
      amounts[k] = amount_of(input_values, place);
    }
    // 2. Count. A bin past the last one is not counted.
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      if (first + k * WORKGROUP < params.n && bins[k] < params.bins) { add_to_output(&output[bins[k]], amounts[k]); }
    }
  }
}
