// segmented/keys: which elements of a tile begin segments, where those are runs of equal keys. Keys are equal if their bits are.

// Marks the elements of a tile whose key is not the one before. All invocations call it together.
FUNCTION u32 mark_heads(InputValues input_values, const Params &params, u32 tile, u32 seat) {
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, params.n);
  // Most tiles are whole, and have a key before them. Places are wide, so that addresses are one base and numbers that compilers know.
  if (tile > 0u && count == TILE) {
    const size_t begin = first;
    const size_t before = first - 1u;
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const size_t place = (size_t)seat + k * WORKGROUP;
      u32 difference = 0u;
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= load_input_values_word(input_values, begin + place, i) ^ load_input_values_word(input_values, before + place, i); }
      if (difference != 0u) { mark_head((u32)place); }
    }
  } else {
    for (u32 place = seat; place < count; place += WORKGROUP) {
      u32 difference = 0u;
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) {
        difference |= load_input_values_word(input_values, first + place, i) ^ load_input_values_word(input_values, max(first + place, 1u) - 1u, i);
      }
      if (difference != 0u) { mark_head(place); }
    }
  }
  return 0u;
}
