// top_k/nth: the last key that is wanted, by its image, or by its index where the image leaves out a part of it. Reads and writes a key.

KERNEL void top_k_nth(ARGUMENTS) {
  // 1. Of no keys there is none.
  if (get_local_id(0) > 0u || params.n == 0u) { return; }
  input += params.input_offset;
  output += params.output_offset;
  // 2. Undo the image.
  Key last = ordered_last();
  for (u32 word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, bound[word]); }
  StoredKey key = key_restored(last);
  // 3. Or load the key that is meant.
  if (INDEX_PLACES > 0u) { key = load_input(input, min(bound[BOUND_INDEX], params.n - 1u)); }
  output[0] = key;
}
