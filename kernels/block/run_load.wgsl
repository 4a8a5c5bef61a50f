// block/run_load: an element as a segmented scan takes it: its value, and 1 where its key begins a run.

@group(0) @binding(0) var<storage, read_write> input: array<u32>;

fn load_run(index: u32, n: u32) -> T {
  if (index >= n) { return identity(); }
  let key = params.input_offset + index * KEY_WORDS;
  var difference = select(0u, 1u, index == 0u);
  if (index > 0u) {
    for (var i = 0u; i < KEY_WORDS; i++) { difference |= input[key + i] ^ input[key - KEY_WORDS + i]; }
  }
  var words: Words;
  for (var i = 0u; i < RUN_WORDS; i++) { words.w[i] = load_run_word(index, i); }
  words.w[RUN_WORDS] = select(0u, 1u, difference != 0u);
  return element_from_words(words);
}
