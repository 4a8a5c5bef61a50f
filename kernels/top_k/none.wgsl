// top_k/none: what segments give that have no keys: zeros, and the greatest word for a place.

@compute @workgroup_size(WORKGROUP)
fn top_k_none(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at >= params.most) { return; }
  // 1. Each invocation writes those of one place.
  // with GIVES_KEYS
  store_target_keys(params.target_offset + at, key_zero());
  let first = params.target_values_offset + at * VALUE_WORDS;
  // with VALUE_WORDS
  for (var word = 0u; word < VALUE_WORDS; word++) { store_target_values(first + word, value_of_place(NO_VALUE)); }
}
