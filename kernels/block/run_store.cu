// block/run_store: what a run leaves: its key where it begins, and its total where the next one does.

// The total of the last run that began before here, if one did.
FUNCTION void store_run_total(u32 *output_values, T before) {
  const Words words = element_to_words(before);
  const u32 runs = words.w[RUN_WORDS];
  if (runs == 0u) { return; }
  const size_t at = (size_t)(runs - 1u) * RUN_WORDS;
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element.
FUNCTION void store_runs(u32 *output, u32 *output_values, const Runs &runs, T before) {
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (element_to_words(runs.elements[k]).w[RUN_WORDS] != 0u) {
      const size_t place = (size_t)element_to_words(running).w[RUN_WORDS] * KEY_WORDS;
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { output[place + i] = runs.keys[k].w[i]; }
      store_run_total(output_values, running);
    }
    running = combine(running, runs.elements[k]);
  }
}
