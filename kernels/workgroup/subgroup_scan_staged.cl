// workgroup/subgroup_scan_staged: workgroup/subgroup_scan_words where local memory stands in for subgroups: all words of an element move between
// two barriers. A compiler for processors makes a loop over the workgroup of what lies between two, and keeps what lives longer in memory.

#undef SUBGROUP_WORDS
#define SUBGROUP_WORDS ELEMENT_WORDS

// The element that another invocation of the workgroup brings.
T subgroup_exchange_element(Subgroup sg, T v, u32 from) {
  const Words own = element_to_words(v);
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { sg.words[i * WORKGROUP + sg.id * sg.width + sg.lane] = own.w[i]; }
  barrier(CLK_LOCAL_MEM_FENCE);
  Words words;
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = sg.words[i * WORKGROUP + from]; }
  barrier(CLK_LOCAL_MEM_FENCE);
  return element_from_words(words);
}

T subgroup_shuffle_element(Subgroup sg, T v, u32 lane) {
  return subgroup_exchange_element(sg, v, sg.id * sg.width + lane);
}

T subgroup_shuffle_element_up(Subgroup sg, T v, u32 delta) {
  return subgroup_shuffle_element(sg, v, sg.lane >= delta ? sg.lane - delta : sg.lane);
}

T subgroup_shuffle_element_down(Subgroup sg, T v, u32 delta) {
  return subgroup_shuffle_element(sg, v, sg.lane + delta < sg.width ? sg.lane + delta : sg.lane);
}

// What the leading subgroup has, for those that look back with it.
T subgroup_mirror_element(Subgroup sg, T v) {
  return subgroup_exchange_element(sg, v, sg.lane);
}

// Each lane's inclusive scan over the lanes before it.
T subgroup_inclusive_scan(Subgroup sg, T v) {
  T running = v;
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T before = subgroup_shuffle_element_up(sg, running, delta);
    if (sg.lane >= delta) { running = combine(before, running); }
  }
  return running;
}
