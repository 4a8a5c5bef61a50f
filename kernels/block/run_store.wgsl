// block/run_store: what a run leaves: its key where it begins, and its total where the next one does.

// The total of the last run that began before here, if one did.
fn store_run_total(before: T) {
  let words = element_to_words(before);
  let runs = words.w[RUN_WORDS];
  if (runs == 0u) { return; }
  let at = params.output_values_offset + (runs - 1u) * RUN_WORDS;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element.
fn store_runs(runs: Runs, before: T) {
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (element_to_words(runs.elements[k]).w[RUN_WORDS] != 0u) {
      let place = params.output_offset + element_to_words(running).w[RUN_WORDS] * KEY_WORDS;
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { output[place + i] = runs.keys[k].w[i]; }
      store_run_total(running);
    }
    running = combine(running, runs.elements[k]);
  }
}
