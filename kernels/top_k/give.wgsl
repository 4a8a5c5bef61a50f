// top_k/give: what is wanted of the keys that come first. Reads and writes K keys, values or indices, or as many of each segment.

@compute @workgroup_size(WORKGROUP)
fn top_k_give(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  let segment = at / params.k;
  if (at >= params.most || segment >= params.segments) { return; }
  // 1. Find where the key is.
  var index = at;
  // with HAS_PLACES
  index = places[at];
  // 2. Write it, and what goes beside it.
  // with GIVES_KEYS
  give_key(at, select(index, at, KEYS_ORDERED > 0u));
  // with VALUE_WORDS
  give_value(at, index, segment_begin(segment, params.n));
}
