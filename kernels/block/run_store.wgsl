// block/run_store: what a run leaves: its key where it begins, and its total where the next one does.

// The total of the last run that began before here, if one did.
fn store_run_total(before: T) {
  let words = element_to_words(before);
  let runs = words.w[RUN_WORDS];
  if (runs == 0u) { return; }
  let at = params.output_values_offset + (runs - 1u) * RUN_WORDS;
  for (var i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// What is known where an element stands: the key of the run that begins with it, and the total of the run before.
fn store_run(index: u32, run: T, before: T) {
  if (element_to_words(run).w[RUN_WORDS] == 0u) { return; }
  let source = params.input_offset + index * KEY_WORDS;
  let place = params.output_offset + element_to_words(before).w[RUN_WORDS] * KEY_WORDS;
  for (var i = 0u; i < KEY_WORDS; i++) { output[place + i] = input[source + i]; }
  store_run_total(before);
}
