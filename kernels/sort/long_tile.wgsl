// sort/long_tile: a tile of a long segment. Each has a row of counts, one for each digit. The rows of a segment follow one another, and those of
// BLOCK rows have a sum.

struct Tile {
  // Its keys, none if no long segment has them.
  first: u32,
  past: u32,
  // The first key of its segment.
  begin: u32,
  // Its row, and the rows of its segment.
  row: u32,
  row_first: u32,
  row_past: u32,
}

var<workgroup> shared_segment: vec2<u32>;

// All invocations call it together.
fn tile_of(number: u32, thread: u32) -> Tile {
  if (thread == 0u) { shared_segment = vec2(long_tiles[1u + 2u * number], long_tiles[2u + 2u * number]); }
  let segment = workgroupUniformLoad(&shared_segment);
  let begin = segment.x;
  let end = segment.y;
  if (end <= begin) { return Tile(0u, 0u, 0u, 0u, 0u, 0u); }
  let cell = number % params.cells;
  let start = cell * params.tile_keys;
  let cell_first = begin / params.tile_keys;
  // Of the two segments that share a cell, the one that begins there has rows behind the other's.
  let row_first = 2u * cell_first + select(0u, 1u, begin % params.tile_keys > 0u);
  let row_past = row_first + (end - 1u) / params.tile_keys - cell_first + 1u;
  return Tile(max(begin, start), start + min(end - start, params.tile_keys), begin, row_first + cell - cell_first, row_first, row_past);
}

// Whether any segment is long. All invocations call it together.
fn are_long(thread: u32) -> bool {
  if (thread == 0u) { shared_segment = vec2(long_tiles[0], 0u); }
  return workgroupUniformLoad(&shared_segment).x > 0u;
}
