// block/run_store: what a run leaves: its key where it begins, and its total where the next one does.

// The total of the last run that began before here, if one did.
FUNCTION void store_run_total(u32 *output_values, T before) {
  const Words words = element_to_words(before);
  const u32 runs = words.w[RUN_WORDS];
  if (runs == 0u) { return; }
  const size_t at = (size_t)(runs - 1u) * RUN_WORDS;
  for (u32 i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// What is known where an element stands: the key of the run that begins with it, and the total of the run before.
FUNCTION void store_run(const u32 *input, u32 *output, u32 *output_values, u32 index, T run, T before) {
  if (element_to_words(run).w[RUN_WORDS] == 0u) { return; }
  const size_t source = (size_t)index * KEY_WORDS;
  const size_t place = (size_t)element_to_words(before).w[RUN_WORDS] * KEY_WORDS;
  for (u32 i = 0u; i < KEY_WORDS; i++) { output[place + i] = input[source + i]; }
  store_run_total(output_values, before);
}
