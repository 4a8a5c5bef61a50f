// segmented/ends_offsets: which segments end in a tile, by the offsets.

// Writes the totals of those segments. `own` is the tile's first offset. All invocations call it together.
fn store_tile(tile: u32, n: u32, own: u32, seat: u32) {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  for (var start = own; start <= params.segments; start = next_batch(start, first + count + 1u, n, seat)) {
    let s = start + seat;
    if (s > 0u && s <= params.segments) {
      let end = segment_offset(s, n);
      let place = end - first - 1u;
      if (place < count && segment_offset(s - 1u, n) < end) { store_total(s - 1u, place); }
    }
  }
}
