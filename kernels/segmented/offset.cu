// segmented/offset: where a segment begins, by the offsets.

// The offset `s`, or n if it is past that. The segment `s` has the elements from this offset to the next one.
FUNCTION u32 segment_offset(InputValues input_values, u32 s, u32 n) {
  u32 past = 0u;
#pragma unroll
  for (u32 i = 1u; i < KEY_WORDS; i++) { past |= load_input_values_word(input_values, s, i); }
  return past == 0u ? min(load_input_values_word(input_values, s, 0u), n) : n;
}
