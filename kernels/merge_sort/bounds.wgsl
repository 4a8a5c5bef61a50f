// merge_sort/bounds: finds where each tile begins and ends, an invocation a tile, and the segments at its sides; and on how many levels runs
// are merged at most. A tile begins at a multiple of so many keys, but behind a segment of which at most a few more would be its first keys.

// Where a tile begins.
fn begin_of(tile: u32, among: Span) -> u32 {
  // The last tile ends with the keys.
  if (tile >= params.tiles) { return params.n; }
  let place = tile * params.tile_keys;
  if (place >= params.n) { return params.n; }
  let segment = segment_of(among, place);
  return select(place, segment.end, segment.begin < place && segment.end - place <= params.tile_more);
}

fn store_span(tile: u32, number: u32, span: Span) {
  let at = 1u + tile * OF_TILE + 2u * number;
  atomicStore(&sides[at], span.begin);
  atomicStore(&sides[at + 1u], span.end);
}

@compute @workgroup_size(WORKGROUP)
fn merge_sort_bounds(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  // 1. Find the tile, which may have no keys.
  let tile = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (tile >= params.tiles) { return; }
  var among = all_offsets();
  let begin = begin_of(tile, among);
  among.begin = offsets_up_to(among, begin);
  let places = Span(begin, begin_of(tile + 1u, among));
  store_span(tile, 0u, places);
  if (places.begin >= places.end) { return; }

  // 2. Search for the segments of the first key and of the last.
  let head = segment_of(among, places.begin);
  among.end = offsets_up_to(among, places.end - 1u);
  let tail = segment_of(among, places.end - 1u);

  // 3. Say where they are.
  store_span(tile, 1u, head);
  store_span(tile, 2u, tail);
  store_span(tile, 3u, among);
  let levels = max(merged_levels(head), merged_levels(tail));
  if (levels > 0u) { atomicMax(&sides[0], levels); }
}
