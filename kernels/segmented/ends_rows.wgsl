// segmented/ends_rows: which rows end in a tile.

// Writes the totals of those rows. `own` is the row of the tile's first element. All invocations call it together.
fn store_tile(tile: u32, n: u32, own: u32, seat: u32) {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  // Where that row ends, and how far it is from there to the next one's end: past the tile is past the tile.
  let ends = min(params.width - first % params.width, TILE + 1u);
  let step = min(params.width, TILE + 1u);
  for (var row = seat; row == 0u || ends + (row - 1u) * step < count; row += WORKGROUP) {
    let end = ends + row * step;
    // The last row may be short, where the device says how many elements there are.
    if (end <= count || first + count == n) { store_total(own + row, min(end, count) - 1u); }
  }
}
