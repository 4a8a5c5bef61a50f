// segmented/ends_rows: which rows end in a tile.

// Writes the totals of those rows. `own` is the row of the tile's first element. All invocations call it together.
FUNCTION void store_tile(Output output, InputValues input_values, const Params &params, u32 tile, u32 own, u32 seat) {
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, params.n);
  // Where that row ends, and how far it is from there to the next one's end: past the tile is past the tile.
  const u32 ends = min(params.width - first % params.width, TILE + 1u);
  const u32 step = min(params.width, TILE + 1u);
  for (u32 row = seat; row == 0u || ends + (row - 1u) * step < count; row += WORKGROUP) {
    const u32 end = ends + row * step;
    // The last row may be short, where the device says how many elements there are.
    if (end <= count || first + count == params.n) { store_total(output, own + row, min(end, count) - 1u); }
  }
}
