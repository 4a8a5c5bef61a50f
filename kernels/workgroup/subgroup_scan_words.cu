// workgroup/subgroup_scan_words: subgroup operations on elements of several words, which travel word by word.

FUNCTION T subgroup_shuffle_element(T v, u32 lane) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = __shfl_sync(0xffffffffu, words.w[i], lane); }
  return element_from_words(words);
}

FUNCTION T subgroup_shuffle_element_up(T v, u32 delta) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = __shfl_up_sync(0xffffffffu, words.w[i], delta); }
  return element_from_words(words);
}

FUNCTION T subgroup_shuffle_element_down(T v, u32 delta) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = __shfl_down_sync(0xffffffffu, words.w[i], delta); }
  return element_from_words(words);
}

// Each lane's inclusive scan over the lanes before it.
FUNCTION T subgroup_inclusive_scan(T v, u32 lane) {
  T running = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T before = subgroup_shuffle_element_up(running, delta);
    if (lane >= delta) { running = combine(before, running); }
  }
  return running;
}
