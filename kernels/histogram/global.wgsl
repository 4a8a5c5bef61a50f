// histogram/global: each element is counted in the output itself, but for those of one bin, which each invocation adds up alone: should most
// elements be in that bin, all others would wait for it. Reads each element once, and its weight if there are weights.

@compute @workgroup_size(WORKGROUP)
fn histogram_global(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  var own_bin = 0u;
  var own_total = 0u;
  // 1. Each workgroup takes the tiles that are its turn.
  for (var tile = id.x; tile < params.tiles; tile += params.groups) {
    let first = tile * WORKGROUP * ROWS + thread;
    var bins: array<u32, ROWS>;
    var amounts: array<u32, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let place = min(first + k * WORKGROUP, params.n - 1u);
      bins[k] = load_input_word(place, 0u);
      amounts[k] = amount_of(place);
    }
    // 2. An invocation takes for its own the bin that more than half of its first elements have, if there is one.
    if (tile == id.x) {
      var lead = 0u;
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        let more = select(lead - 1u, lead + 1u, lead == 0u || bins[k] == own_bin);
        own_bin = select(own_bin, bins[k], lead == 0u);
        lead = more;
      }
    }
    // 3. Count. A bin past the last one is not counted.
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      if (first + k * WORKGROUP < params.n) {
        if (bins[k] == own_bin) {
          own_total = total_of(own_total, amounts[k]);
        } else if (bins[k] < params.bins) {
          add_to_output(params.output_offset + bins[k], amounts[k]);
        }
      }
    }
  }
  // 4. Add what the own bin has.
  if (own_total > 0u && own_bin < params.bins) { add_to_output(params.output_offset + own_bin, own_total); }
}
