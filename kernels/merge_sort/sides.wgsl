// merge_sort/sides: what is known of a tile, and of the segments at its sides, which may begin before it and end behind it.

fn of_tile(tile: u32, number: u32) -> Span {
  let at = 1u + tile * OF_TILE + 2u * number;
  return Span(sides[at], sides[at + 1u]);
}

// Its places.
fn places_of(tile: u32) -> Span {
  return of_tile(tile, 0u);
}

// The segment at its left side, or at its right one.
fn side_of(tile: u32, side: u32) -> Span {
  return of_tile(tile, 1u + side);
}

// Which numbers may be those of offsets up to a place of a tile.
fn tile_offsets(tile: u32) -> Span {
  return of_tile(tile, 3u);
}

// Whether a level writes a segment to the second buffer. The last level writes to the first, and level 0 is a tile's own.
// Nobody reads what a tile writes of a long segment.
fn is_in_temp(segment: Span, level: u32) -> bool {
  return is_long(segment) || (merged_levels(segment) - level) % 2u == 1u;
}

// Which places of a tile belong to segments whose keys the tile writes to the first buffer.
fn stored_here(tile: u32) -> Span {
  let head = side_of(tile, 0u);
  let tail = side_of(tile, 1u);
  return Span(select(0u, head.end, is_in_temp(head, 0u)), select(NOWHERE, tail.begin, is_in_temp(tail, 0u)));
}

// The places that a tile sorts: none, if a long segment has all of them.
fn sorted_places(tile: u32) -> Span {
  let places = places_of(tile);
  let head = side_of(tile, 0u);
  return Span(select(places.begin, places.end, is_long(head) && head.end >= places.end), places.end);
}
