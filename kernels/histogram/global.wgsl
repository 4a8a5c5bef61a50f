// histogram/global: each element is counted in the output itself. Reads each element once, and its weight if there are weights.

@compute @workgroup_size(WORKGROUP)
fn histogram_global(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
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
    // 2. Count. A bin past the last one is not counted.
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      if (first + k * WORKGROUP < params.n && bins[k] < params.bins) { add_to_output(params.output_offset + bins[k], amounts[k]); }
    }
  }
}
