// sort/long_tile: a tile of a long segment. Each has a row of counts, one for each digit. The rows of a segment follow one another, and those of
// BLOCK rows have a sum.

typedef struct {
  // Its keys, none if no long segment has them.
  u32 first, past;
  // The first key of its segment.
  u32 begin;
  // Its row, and the rows of its segment.
  u32 row, row_first, row_past;
} Tile;

Tile tile_of(__global const u32 *long_tiles, Params params, u32 number) {
  const u32 begin = long_tiles[1u + 2u * number];
  const u32 end = long_tiles[2u + 2u * number];
  const Tile none = {0u, 0u, 0u, 0u, 0u, 0u};
  if (end <= begin) { return none; }
  const u32 cell = number % params.cells;
  const u32 start = cell * params.tile_keys;
  const u32 cell_first = begin / params.tile_keys;
  // Of the two segments that share a cell, the one that begins there has rows behind the other's.
  const u32 row_first = 2u * cell_first + (begin % params.tile_keys > 0u ? 1u : 0u);
  const u32 row_past = row_first + (end - 1u) / params.tile_keys - cell_first + 1u;
  const Tile tile = {max(begin, start), start + min(end - start, params.tile_keys), begin, row_first + cell - cell_first, row_first, row_past};
  return tile;
}

// Whether any segment is long.
bool are_long(__global const u32 *long_tiles) {
  return long_tiles[0] > 0u;
}
