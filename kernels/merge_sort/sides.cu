// merge_sort/sides: what is known of a tile, and of the segments at its sides, which may begin before it and end behind it.

FUNCTION Span of_tile(const u32 *sides, u32 tile, u32 number) {
  const u32 at = 1u + tile * OF_TILE + 2u * number;
  const Span segment = {sides[at], sides[at + 1u]};
  return segment;
}

// Its places.
FUNCTION Span places_of(const u32 *sides, u32 tile) {
  return of_tile(sides, tile, 0u);
}

// The segment at its left side, or at its right one.
FUNCTION Span side_of(const u32 *sides, u32 tile, u32 side) {
  return of_tile(sides, tile, 1u + side);
}

// Which numbers may be those of offsets up to a place of a tile.
FUNCTION Span tile_offsets(const u32 *sides, u32 tile) {
  return of_tile(sides, tile, 3u);
}

// Whether a level writes a segment to the second buffer. The last level writes to the first, and level 0 is a tile's own.
// Nobody reads what a tile writes of a long segment.
FUNCTION bool is_in_temp(const Params &params, Span segment, u32 level) {
  return is_long(params, segment) || (merged_levels(params, segment) - level) % 2u == 1u;
}

// Which places of a tile belong to segments whose keys the tile writes to the first buffer.
FUNCTION Span stored_here(const u32 *sides, const Params &params, u32 tile) {
  const Span head = side_of(sides, tile, 0u);
  const Span tail = side_of(sides, tile, 1u);
  const Span here = {is_in_temp(params, head, 0u) ? head.end : 0u, is_in_temp(params, tail, 0u) ? tail.begin : NOWHERE};
  return here;
}

// The places that a tile sorts: none, if a long segment has all of them.
FUNCTION Span sorted_places(const u32 *sides, const Params &params, u32 tile) {
  Span places = places_of(sides, tile);
  const Span head = side_of(sides, tile, 0u);
  if (is_long(params, head) && head.end >= places.end) { places.begin = places.end; }
  return places;
}
