// merge_sort/bounds: finds where each tile begins and ends, an invocation a tile, and the segments at its sides; and on how many levels runs
// are merged at most. A tile begins at a multiple of so many keys, but behind a segment of which at most a few more would be its first keys.

// Where a tile begins.
u32 begin_of(__global const u32 *offsets, Params params, u32 tile, Span among) {
  // The last tile ends with the keys.
  if (tile >= params.tiles) { return params.n; }
  const u32 place = tile * params.tile_keys;
  if (place >= params.n) { return params.n; }
  const Span segment = segment_of(offsets, params, among, place);
  return segment.begin < place && segment.end - place <= params.tile_more ? segment.end : place;
}

void store_span(__global u32 *sides, u32 tile, u32 number, Span span) {
  const u32 at = 1u + tile * OF_TILE + 2u * number;
  sides[at] = span.begin;
  sides[at + 1u] = span.end;
}

KERNEL void merge_sort_bounds(ARGUMENTS) {
  // 1. Find the tile, which may have no keys.
  const u32 tile = get_group_id(0) * WORKGROUP + get_local_id(0);
  if (tile >= params.tiles) { return; }
  Span among = all_offsets(params);
  const u32 begin = begin_of(offsets, params, tile, among);
  among.begin = offsets_up_to(offsets, params, among, begin);
  const Span places = {begin, begin_of(offsets, params, tile + 1u, among)};
  store_span(sides, tile, 0u, places);
  if (places.begin >= places.end) { return; }

  // 2. Search for the segments of the first key and of the last.
  const Span head = segment_of(offsets, params, among, places.begin);
  among.end = offsets_up_to(offsets, params, among, places.end - 1u);
  const Span tail = segment_of(offsets, params, among, places.end - 1u);

  // 3. Say where they are.
  store_span(sides, tile, 1u, head);
  store_span(sides, tile, 2u, tail);
  store_span(sides, tile, 3u, among);
  const u32 levels = max(merged_levels(params, head), merged_levels(params, tail));
  if (levels > 0u) { atomic_max(&sides[0], levels); }
}
