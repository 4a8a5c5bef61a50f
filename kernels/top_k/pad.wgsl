// top_k/pad: indices behind those of the candidates, which stay behind these in order. Writes as many as there is room for, and are not found.

@compute @workgroup_size(WORKGROUP)
fn top_k_pad(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Each invocation writes one, if it is behind.
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at < params.room && at >= bound[BOUND_FOUND]) { candidates[at] = 0xffffffffu; }
}
