// segmented/keys: which elements of a tile begin segments, where those are runs of equal keys. Keys are equal if their bits are.

// Marks the elements of a tile whose key is not the one before. All invocations call it together.
fn mark_heads(tile: u32, n: u32, seat: u32) -> u32 {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let place = min(k * WORKGROUP + seat, count - 1u);
    let before = max(first + place, 1u) - 1u;
    var difference = 0u;
    // unroll
    for (var i = 0u; i < KEY_WORDS; i++) {
      difference |= load_input_values_word(first + place, i) ^ load_input_values_word(before, i);
    }
    if (difference != 0u) { mark_head(place); }
  }
  return 0u;
}
