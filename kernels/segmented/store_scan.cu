// segmented/store_scan: a scan gives each element's prefix.

// Writes what a scan has left of a tile. All invocations call it together.
FUNCTION void store_tile(Output output, InputValues input_values, const Params &params, u32 tile, u32 own, u32 seat) {
  const u32 words = tile_count(tile, params.n) * RUN_WORDS;
  const size_t first = (size_t)tile * TILE * RUN_WORDS;
#pragma unroll
  for (u32 k = 0u; k < OWN_WORDS; k++) {
    const size_t word = (size_t)seat + k * WORKGROUP;
    if (word < words) { store_output(output, first + word, staged_words[staged_row(seat, k)]); }
  }
}
