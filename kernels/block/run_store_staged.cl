// block/run_store_staged: block/run_store by way of workgroup memory, where a tile's elements are (block/run_load_staged): its runs are
// gathered there, and written densely.

// `before` is what lies before the invocation's first element; of the tile `count` runs begin, the first of which has place `start`.
// All invocations call it together.
void store_runs(
  __global u32 *output, __global u32 *output_values, const Runs *runs, T before, u32 start, u32 count, u32 seat,
  __local RunStage *stage
) {
  // 1. Read the elements again, which a stuck tile's may have replaced.
  if (workgroup_uniform_load(&runs->stage->tile) != runs->tile) { load_tile(runs); }
  RunKey keys[ROWS];
  T elements[ROWS];
  RunKey last_key = load_key(runs, seat * ROWS);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    keys[k] = load_key(runs, seat * ROWS + k + 1u);
    elements[k] = load_element(runs, k, keys[k], last_key);
    last_key = keys[k];
  }
  workgroup_barrier();

  // 2. Where a run begins, its key and the total of the run before are known.
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (run_heads(elements[k]) != 0u) {
      const u32 place = run_heads(running) - start;
      const Words words = element_to_words(running);
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { runs->stage->keys[staged_at(place * KEY_WORDS + i)] = keys[k].w[i]; }
#pragma unroll
      for (u32 i = 0u; i < RUN_WORDS; i++) { runs->stage->words[staged_at(place * RUN_WORDS + i)] = words.w[i]; }
    }
    running = combine(running, elements[k]);
  }
  workgroup_barrier();

  // 3. Neighbours write neighbouring words. The first of all runs has none before it.
  for (u32 word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    output[(size_t)start * KEY_WORDS + word] = runs->stage->keys[staged_at(word)];
  }
  for (u32 word = seat + (start == 0u ? RUN_WORDS : 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[(size_t)start * RUN_WORDS + word - RUN_WORDS] = runs->stage->words[staged_at(word)];
  }
}
