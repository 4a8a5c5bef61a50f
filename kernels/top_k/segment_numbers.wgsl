// top_k/segment_numbers: the segment of each place of an order, of K places each. Reads and writes as many words as there are places.

@compute @workgroup_size(WORKGROUP)
fn top_k_segment_numbers(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Each invocation writes one.
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at < params.slots) { numbers[at] = places[at] / params.k; }
}
