// sort/long_tiles: finds the tiles of long segments, an invocation a tile. Keys are cut at the multiples of a number of keys, and at the ends
// of long segments. Between two multiples are keys of two long segments at most: the first tiles are of those that have the first key there,
// the others of those that begin behind it.

KERNEL void sort_long_tiles(ARGUMENTS) {
  // 1. Find the first key and the last between the two multiples. There may be none.
  const u32 tile = get_group_id(0) * WORKGROUP + get_local_id(0);
  if (tile >= 2u * params.cells) { return; }
  const u32 first = tile % params.cells * params.tile_keys;
  Span segment = {0u, 0u};
  if (first < params.n) {
    // 2. Search for the segment of either.
    const bool is_last = tile >= params.cells;
    const u32 place = is_last ? first + min(params.tile_keys, params.n - first) - 1u : first;
    const Span found = segment_of(offsets, params, all_offsets(params), place);
    if (found.end - found.begin > params.longest && !(is_last && found.begin <= first)) { segment = found; }
  }
  // 3. Say where it is, and whether any is long.
  long_tiles[1u + 2u * tile] = segment.begin;
  long_tiles[2u + 2u * tile] = segment.end;
  if (segment.end > 0u) { atomic_max(&long_tiles[0], 1u); }
}
