// reduce_by_key/run_store_staged: reduce_by_key/run_store by way of workgroup memory, where a tile's elements are (reduce_by_key/run_load_staged): its runs are
// gathered there, and written densely.

// `before` is what lies before the invocation's first element; of the tile `count` runs begin, the first of which has place `start`.
// All invocations call it together, and `tile` is that of `runs`: WGSL must see that it is the same for all.
FUNCTION void store_runs(StoredRun *output, u32 *output_values, const Runs &runs, u32 tile, T before, u32 start, u32 count, u32 seat) {
  // 1. A stuck tile's elements may have replaced this one's.
  if (workgroup_uniform_load(&staged_tile) != tile) { load_tile(runs); }

  // 2. Gather the keys of the runs that begin here.
  RunKey keys[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { keys[k] = load_key(seat, k); }
  workgroup_barrier();
  u32 place = run_heads(before) - start;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (((runs.heads >> k) & 1u) == 1u) {
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { staged_keys[place * KEY_WORDS + i] = keys[k].w[i]; }
      place++;
    }
  }

  // 3. Where a run begins, the total of the one before it is known. Keys and elements one after the other are fewer to hold at once.
  T elements[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { elements[k] = load_element(runs, k); }
  workgroup_barrier();
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (((runs.heads >> k) & 1u) == 1u) {
      const Words words = element_to_words(running);
      const u32 at = run_heads(running) - start;
#pragma unroll
      for (u32 i = 0u; i < RUN_WORDS; i++) { staged_words[at * RUN_WORDS + i] = words.w[i]; }
    }
    running = combine(running, elements[k]);
  }
  workgroup_barrier();

  // 4. Neighbours write neighbouring words. The first of all runs has none before it.
  for (u32 word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    output[(size_t)start * KEY_WORDS + word] = staged_keys[word];
  }
  for (u32 word = seat + (start == 0u ? RUN_WORDS : 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[(size_t)start * RUN_WORDS + word - RUN_WORDS] = staged_words[word];
  }
}
