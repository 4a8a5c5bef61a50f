// segmented/rows: which elements of a tile begin segments, where all segments are rows of one width.

// Marks the elements of a tile that begin rows. Returns the row of the tile's first element. All invocations call it together.
u32 mark_heads(InputValues input_values, Params params, u32 tile, u32 seat, __local Stage *stage) {
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, params.n);
  const u32 into = first % params.width;
  const u32 begins = into == 0u ? 0u : params.width - into;
  // Rows wider than a tile begin there once at most.
  const u32 step = min(params.width, (u32)TILE);
  if (begins < count) {
    for (u32 place = begins + seat * step; place < count; place += WORKGROUP * step) { mark_head(stage, place); }
  }
  return first / params.width;
}
