// top_k/bound_key: the key of the bound that begins at a word of `bound`.

fn bound_key(at: u32) -> Key {
  var key = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, atomicLoad(&bound[at + word])); }
  return key;
}
