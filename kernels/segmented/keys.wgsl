// segmented/keys: which elements of a tile begin segments, where those are runs of equal keys. Keys are equal if their bits are.

// Marks the elements of a tile whose key is not the one before. All invocations call it together.
fn mark_heads(tile: u32, n: u32, seat: u32) -> u32 {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  // Most tiles are whole, and have a key before them.
  if (tile > 0u && count == TILE) {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let place = k * WORKGROUP + seat;
      var difference = 0u;
      for (var i = 0u; i < KEY_WORDS; i++) {
        difference |= load_input_values_word(first + place, i) ^ load_input_values_word(first + place - 1u, i);
      }
      if (difference != 0u) { mark_head(place); }
    }
  } else {
    for (var place = seat; place < count; place += WORKGROUP) {
      var difference = 0u;
      for (var i = 0u; i < KEY_WORDS; i++) {
        difference |= load_input_values_word(first + place, i) ^ load_input_values_word(max(first + place, 1u) - 1u, i);
      }
      if (difference != 0u) { mark_head(place); }
    }
  }
  return 0u;
}
