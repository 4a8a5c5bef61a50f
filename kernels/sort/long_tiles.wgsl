// sort/long_tiles: finds the tiles of long segments, an invocation a tile. Keys are cut at the multiples of a number of keys, and at the ends
// of long segments. Between two multiples are keys of two long segments at most: the first tiles are of those that have the first key there,
// the others of those that begin behind it.

@compute @workgroup_size(WORKGROUP)
fn sort_long_tiles(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  // 1. Find the first key and the last between the two multiples. There may be none.
  let tile = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (tile >= 2u * params.cells) { return; }
  let first = tile % params.cells * params.tile_keys;
  var segment = Span(0u, 0u);
  if (first < params.n) {
    // 2. Search for the segment of either.
    let is_last = tile >= params.cells;
    let place = select(first, first + min(params.tile_keys, params.n - first) - 1u, is_last);
    let found = segment_of(all_offsets(), place);
    if (found.end - found.begin > params.longest && !(is_last && found.begin <= first)) { segment = found; }
  }
  // 3. Say where it is, and whether any is long.
  atomicStore(&long_tiles[1u + 2u * tile], segment.begin);
  atomicStore(&long_tiles[2u + 2u * tile], segment.end);
  if (segment.end > 0u) { atomicMax(&long_tiles[0], 1u); }
}
