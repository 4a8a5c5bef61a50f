// block/partials: a workgroup's partial result in 32-bit words, each with 16 bits of the value below a flag. The counter
// of arrivals orders nothing by itself, so whoever reads a partial waits for its flags.

#define PARTIAL_FLAG 0x10000u

void partial_publish(__global u32 *partials, u32 group, T value) {
  __global u32 *first = partials + group * (2u * ELEMENT_WORDS);
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    store_relaxed_u32(&first[2u * i], PARTIAL_FLAG | (words.w[i] & 0xffffu));
    store_relaxed_u32(&first[2u * i + 1u], PARTIAL_FLAG | (words.w[i] >> 16u));
  }
}

// Waits for a word that has been written, and leaves it clean for the next run.
u32 partial_take_word(__global u32 *word) {
  u32 value = load_relaxed_u32(word);
  while (value == 0u) { value = load_relaxed_u32(word); }
  store_relaxed_u32(word, 0u);
  return value & 0xffffu;
}

T partial_take(__global u32 *partials, u32 group) {
  __global u32 *first = partials + group * (2u * ELEMENT_WORDS);
  Words words;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    const u32 low = partial_take_word(&first[2u * i]);
    words.w[i] = low | (partial_take_word(&first[2u * i + 1u]) << 16u);
  }
  return element_from_words(words);
}
