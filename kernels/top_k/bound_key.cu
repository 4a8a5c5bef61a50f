// top_k/bound_key: the key of a bound.

FUNCTION Key bound_key(const u32 *bound) {
  Key key = ordered_last();
#pragma unroll
  for (u32 word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, bound[word]); }
  return key;
}
