// segmented/offset: where a segment begins, by the offsets.

// The offset `s`, or n if it is past that. The segment `s` has the elements from this offset to the next one.
fn segment_offset(s: u32, n: u32) -> u32 {
  var past = 0u;
  for (var i = 1u; i < KEY_WORDS; i++) { past |= load_input_values_word(s, i); }
  return select(n, min(load_input_values_word(s, 0u), n), past == 0u);
}
