// segmented/store_totals: a reduction gives each segment's total, which its last element has.

FUNCTION void store_total(Output output, u32 segment, u32 place) {
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) {
    store_output(output, (size_t)segment * RUN_WORDS + i, staged_words[STAGED(place * RUN_WORDS + i)]);
  }
}
