// block/run_store: what runs leave: a key where one begins, and the total of the one before it. A tile's are gathered in workgroup memory,
// where its elements were (see block/run_load), and written densely from there.

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

// Of the tile `count` runs begin, the first of which has place `start`; `before` is what lies before the invocation's elements. All
// invocations call it together, with a barrier since they loaded the tile.
fn store_runs(runs: Runs, before: T, start: u32, count: u32, seat: u32) {
  // 1. Where a run begins, its key and the total of the run before are known.
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (run_heads(runs.elements[k]) != 0u) {
      let place = run_heads(running) - start;
      let words = element_to_words(running);
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { staged_keys[staged_at(place * KEY_WORDS + i)] = runs.keys[k].w[i]; }
      // unroll
      for (var i = 0u; i < RUN_WORDS; i++) { staged_words[staged_at(place * RUN_WORDS + i)] = words.w[i]; }
    }
    running = combine(running, runs.elements[k]);
  }
  workgroupBarrier();

  // 2. Neighbours write neighbouring words. The first of all runs has none before it.
  for (var word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    output[params.output_offset + start * KEY_WORDS + word] = staged_keys[staged_at(word)];
  }
  for (var word = seat + select(0u, RUN_WORDS, start == 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[params.output_values_offset + start * RUN_WORDS + word - RUN_WORDS] = staged_words[staged_at(word)];
  }
}
