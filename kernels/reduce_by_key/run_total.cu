// reduce_by_key/run_total: what a segmented scan's element says of runs: how many have begun, and the total of the last.

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
