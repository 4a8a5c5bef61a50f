// block/run_store: what runs leave: a key where one begins, and the total of the one before it. A tile's are gathered in workgroup memory,
// where its elements were (see block/run_load), and written densely from there.

FUNCTION u32 run_heads(T v) {
  return element_to_words(v).w[RUN_WORDS];
}

// The total of the last run that began before here, if one did.
FUNCTION void store_run_total(u32 *output_values, T before) {
  const u32 runs = run_heads(before);
  if (runs == 0u) { return; }
  const Words words = element_to_words(before);
  const size_t at = (size_t)(runs - 1u) * RUN_WORDS;
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// Of the tile `count` runs begin, the first of which has place `start`; `before` is what lies before the invocation's elements. All
// invocations call it together, with a barrier since they loaded the tile.
FUNCTION void store_runs(u32 *output, u32 *output_values, const Runs &runs, T before, u32 start, u32 count, u32 seat) {
  // 1. Where a run begins, its key and the total of the run before are known.
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (run_heads(runs.elements[k]) != 0u) {
      const u32 place = run_heads(running) - start;
      const Words words = element_to_words(running);
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { staged_keys[staged_at(place * KEY_WORDS + i)] = runs.keys[k].w[i]; }
#pragma unroll
      for (u32 i = 0u; i < RUN_WORDS; i++) { staged_words[staged_at(place * RUN_WORDS + i)] = words.w[i]; }
    }
    running = combine(running, runs.elements[k]);
  }
  workgroup_barrier();

  // 2. Neighbours write neighbouring words. The first of all runs has none before it.
  for (u32 word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    output[(size_t)start * KEY_WORDS + word] = staged_keys[staged_at(word)];
  }
  for (u32 word = seat + (start == 0u ? RUN_WORDS : 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[(size_t)start * RUN_WORDS + word - RUN_WORDS] = staged_words[staged_at(word)];
  }
}
