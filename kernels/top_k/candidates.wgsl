// top_k/candidates: the candidates' keys, by their indices. Reads as many keys as there are candidates, and writes as many as there is room
// for.

@compute @workgroup_size(WORKGROUP)
fn top_k_candidates(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at >= params.room) { return; }
  // 1. Behind the candidates stand keys that come last.
  var key = key_restored(ordered_last());
  let index = candidates[at];
  if (index < params.n) { key = load_input(params.input_offset + index); }
  store_keys(at, key);
}
