// reduce/partials: a workgroup's partial result in 32-bit words, each with 16 bits of the value below a flag. The counter
// of arrivals orders nothing by itself, so whoever reads a partial waits for its flags. WGSL and OpenCL C alone, for devices
// without 64-bit atomics: all CUDA devices have them, and `reduce/partials64`.

typedef u32 PartialWord;

#define PARTIAL_FLAG 0x10000u

void partial_publish(__global PartialWord *partials, u32 group, T value) {
  __global PartialWord *first = partials + group * (2u * ELEMENT_WORDS);
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    store_relaxed_u32(&first[2u * i], PARTIAL_FLAG | (words.w[i] & 0xffffu));
    store_relaxed_u32(&first[2u * i + 1u], PARTIAL_FLAG | (words.w[i] >> 16u));
  }
}

// Waits for a partial, whose words are read all at once, and leaves them clean for the next run; the identity where workgroups are
// not so many. All invocations call it together: alone in a branch, a few lanes of a subgroup would take longer.
T partial_take(__global PartialWord *partials, u32 group, u32 groups) {
  const bool mine = group < groups;
  __global PartialWord *first = partials + min(group, groups - 1u) * (2u * ELEMENT_WORDS);
  u32 halves[2u * ELEMENT_WORDS];
  bool missing = true;
  while (missing) {
#pragma unroll
    for (u32 i = 0u; i < 2u * ELEMENT_WORDS; i++) { halves[i] = load_relaxed_u32(&first[i]); }
    missing = false;
#pragma unroll
    for (u32 i = 0u; i < 2u * ELEMENT_WORDS; i++) { missing |= mine & (halves[i] == 0u); }
  }
  if (!mine) { return identity(); }
  Words words;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    words.w[i] = (halves[2u * i] & 0xffffu) | (halves[2u * i + 1u] << 16u);
    store_relaxed_u32(&first[2u * i], 0u);
    store_relaxed_u32(&first[2u * i + 1u], 0u);
  }
  return element_from_words(words);
}
