// segmented/store_scan: a scan gives each element's prefix.

// Writes what a scan has left of a tile. All invocations call it together.
fn store_tile(tile: u32, n: u32, own: u32, seat: u32) {
  let words = tile_count(tile, n) * RUN_WORDS;
  let output = params.output_offset + tile * TILE * RUN_WORDS;
  // unroll
  for (var k = 0u; k < OWN_WORDS; k++) {
    let word = k * WORKGROUP + seat;
    if (word < words) { store_output(output + word, staged_words[staged_row(seat, k)]); }
  }
}
