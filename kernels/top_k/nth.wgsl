// top_k/nth: the last key that is wanted, by its image, or by its index where the image leaves out a part of it. Reads and writes a key.

@compute @workgroup_size(WORKGROUP)
fn top_k_nth(@builtin(local_invocation_index) thread: u32) {
  // 1. Of no keys there is none.
  if (thread > 0u || params.n == 0u) { return; }
  // 2. Undo the image.
  var last = ordered_last();
  for (var word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, bound[word]); }
  var key = key_restored(last);
  // 3. Or load the key that is meant.
  if (INDEX_PLACES > 0u) { key = load_input(params.input_offset + min(bound[BOUND_INDEX], params.n - 1u)); }
  store_output(params.output_offset, key);
}
