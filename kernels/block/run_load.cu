// block/run_load: an element as a segmented scan takes it: its value, and 1 where its key begins a run.

FUNCTION T load_run(const u32 *input, const u32 *input_values, u32 index, u32 n) {
  if (index >= n) { return identity(); }
  const size_t key = (size_t)index * KEY_WORDS;
  u32 difference = index == 0u ? 1u : 0u;
  if (index > 0u) {
    for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= input[key + i] ^ input[key - KEY_WORDS + i]; }
  }
  Words words = {{0}};
  for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = load_run_word(input_values, index, i); }
  words.w[RUN_WORDS] = difference != 0u ? 1u : 0u;
  return element_from_words(words);
}
