// workgroup/subgroup_scan_words: subgroup operations on elements of any size, word by word.

T subgroup_shuffle_element(Subgroup sg, T v, u32 lane) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroup_shuffle_word(sg, words.w[i], lane); }
  return element_from_words(words);
}

T subgroup_shuffle_element_up(Subgroup sg, T v, u32 delta) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroup_shuffle_word_up(sg, words.w[i], delta); }
  return element_from_words(words);
}

T subgroup_shuffle_element_down(Subgroup sg, T v, u32 delta) {
  Words words = element_to_words(v);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroup_shuffle_word_down(sg, words.w[i], delta); }
  return element_from_words(words);
}

// What the leading subgroup has, for those that look back with it.
T subgroup_mirror_element(Subgroup sg, T v) {
  Words words = element_to_words(v);
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroup_mirror_word(sg, words.w[i]); }
  return element_from_words(words);
}

// Each lane's inclusive scan over the lanes before it.
T subgroup_inclusive_scan(Subgroup sg, T v) {
  T running = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T before = subgroup_shuffle_element_up(sg, running, delta);
    if (sg.lane >= delta) { running = combine(before, running); }
  }
  return running;
}
