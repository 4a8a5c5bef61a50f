// reduce_by_key/run_total: what a segmented scan's element says of runs: how many have begun, and the total of the last.

fn run_heads(v: T) -> u32 {
  return element_to_words(v).w[RUN_WORDS];
}

// The total of the last run that began before here, if one did.
fn store_run_total(before: T) {
  let runs = run_heads(before);
  if (runs == 0u) { return; }
  let words = element_to_words(before);
  let at = params.output_values_offset + (runs - 1u) * RUN_WORDS;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}
