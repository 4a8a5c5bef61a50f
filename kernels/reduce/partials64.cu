// reduce/partials64: a workgroup's partial result in 64-bit words, each with 32 bits of the value below a flag. The counter of arrivals
// orders nothing by itself, so whoever reads a partial waits for its flags.

typedef u64 PartialWord;

#define PARTIAL_FLAG ((u64)1u << 32u)

FUNCTION void partial_publish(PartialWord *partials, u32 group, T value) {
  PartialWord *first = partials + group * ELEMENT_WORDS;
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { store_relaxed(&first[i], PARTIAL_FLAG | words.w[i]); }
}

// Waits for a partial, whose words are read all at once, and leaves them clean for the next run; the identity where workgroups are
// not so many. All invocations call it together: alone in a branch, a few lanes of a subgroup would take longer.
FUNCTION T partial_take(PartialWord *partials, u32 group, u32 groups) {
  const bool mine = group < groups;
  PartialWord *first = partials + min(group, groups - 1u) * ELEMENT_WORDS;
  u64 flagged[ELEMENT_WORDS];
  bool missing = true;
  while (missing) {
#pragma unroll
    for (u32 i = 0u; i < ELEMENT_WORDS; i++) { flagged[i] = load_relaxed(&first[i]); }
    missing = false;
#pragma unroll
    for (u32 i = 0u; i < ELEMENT_WORDS; i++) { missing |= mine & (flagged[i] == 0u); }
  }
  if (!mine) { return identity(); }
  Words words;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    words.w[i] = (u32)flagged[i];
    store_relaxed(&first[i], 0u);
  }
  return element_from_words(words);
}
