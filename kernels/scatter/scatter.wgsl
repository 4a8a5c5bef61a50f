// scatter/scatter: values to the places that indices say. Reads each value and each index once, and writes each value once, unless its
// place is past the end.

@compute @workgroup_size(WORKGROUP)
fn scatter(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  // 1. Each invocation takes ROWS values, and neighbours take neighbouring ones.
  for (var k = 0u; k < ROWS; k++) {
    let at = (tile * ROWS + k) * WORKGROUP + thread;
    if (at < params.n) {
      // 2. Write the value to its place.
      let place = load_input_values_word(at, 0u);
      if (place < params.room) {
        for (var word = 0u; word < VALUE_WORDS; word++) {
          store_output(params.output_offset + place * VALUE_WORDS + word, load_input_word(at, word));
        }
      }
    }
  }
}
