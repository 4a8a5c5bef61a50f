// segmented/ends_offsets: which segments end in a tile, by the offsets.

// Writes the totals of those segments. `own` is the tile's first offset. All invocations call it together.
void store_tile(Output output, InputValues input_values, Params params, u32 tile, u32 own, u32 seat, __local Stage *stage) {
  const u32 segments = params.segments;
  const u32 n = params.n;
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, n);
  for (u32 start = own; start <= segments; start = next_batch(input_values, segments, start, first + count + 1u, n, seat, stage)) {
    const u32 s = start + seat;
    if (s > 0u && s <= segments) {
      const u32 end = segment_offset(input_values, s, n);
      const u32 place = end - first - 1u;
      if (place < count && segment_offset(input_values, s - 1u, n) < end) { store_total(output, s - 1u, place, stage); }
    }
  }
}
