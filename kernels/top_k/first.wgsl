// top_k/first: the indices of the first K keys of an order. Where there are fewer, none stand behind them.

@compute @workgroup_size(WORKGROUP)
fn top_k_first(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Each invocation writes one.
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at >= params.k) { return; }
  var index = 0xffffffffu;
  if (at < params.n) { index = places[at]; }
  first[at] = index;
}
