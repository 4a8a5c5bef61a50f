// segmented/store_totals: a reduction gives each segment's total, which its last element has.

fn store_total(segment: u32, place: u32) {
  let output = params.output_offset + segment * RUN_WORDS;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { store_output(output + i, staged_words[staged(place * RUN_WORDS + i)]); }
}
