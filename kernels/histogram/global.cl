// histogram/global: each element is counted in the output itself, but for those of one bin, which each invocation adds up alone: should most
// elements be in that bin, all others would wait for it. Reads each element once, and its weight if there are weights.

KERNEL void histogram_global(ARGUMENTS) {
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  u32 own_bin = 0u;
  u32 own_total = 0u;
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
    // 2. An invocation takes for its own the bin that more than half of its first elements have, if there is one.
    if (tile == get_group_id(0)) {
      u32 lead = 0u;
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        const u32 more = lead == 0u || bins[k] == own_bin ? lead + 1u : lead - 1u;
        own_bin = lead == 0u ? bins[k] : own_bin;
        lead = more;
      }
    }
    // 3. Count. A bin past the last one is not counted.
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      if (first + k * WORKGROUP < params.n) {
        if (bins[k] == own_bin) {
          own_total = total_of(own_total, amounts[k]);
        } else if (bins[k] < params.bins) {
          add_to_output(&output[bins[k]], amounts[k]);
        }
      }
    }
  }
  // 4. Add what the own bin has.
  if (own_total > 0u && own_bin < params.bins) { add_to_output(&output[own_bin], own_total); }
}
