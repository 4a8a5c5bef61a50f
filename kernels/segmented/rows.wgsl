// segmented/rows: which elements of a tile begin segments, where all segments are rows of one width.

// Marks the elements of a tile that begin rows. Returns the row of the tile's first element. All invocations call it together.
fn mark_heads(tile: u32, n: u32, seat: u32) -> u32 {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  let into = first % params.width;
  let begins = select(params.width - into, 0u, into == 0u);
  // Rows wider than a tile begin there once at most.
  let step = min(params.width, TILE);
  if (begins < count) {
    for (var place = begins + seat * step; place < count; place += WORKGROUP * step) { mark_head(place); }
  }
  return first / params.width;
}
