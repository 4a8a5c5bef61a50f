// block/run_store_staged: block/run_store by way of workgroup memory, where a tile's elements are (block/run_load_staged): its runs are
// gathered there, and written densely.

// `before` is what lies before the invocation's first element; of the tile `count` runs begin, the first of which has place `start`.
// All invocations call it together.
fn store_runs(runs: Runs, before: T, start: u32, count: u32, seat: u32) {
  // 1. Read the elements again, which a stuck tile's may have replaced.
  if (workgroupUniformLoad(&staged_tile) != runs.tile) { load_tile(runs); }
  var keys: array<RunKey, ROWS>;
  var elements: array<T, ROWS>;
  var last_key = load_key(seat * ROWS);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    keys[k] = load_key(seat * ROWS + k + 1u);
    elements[k] = load_element(runs, k, keys[k], last_key);
    last_key = keys[k];
  }
  workgroupBarrier();

  // 2. Where a run begins, its key and the total of the run before are known.
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (run_heads(elements[k]) != 0u) {
      let place = run_heads(running) - start;
      let words = element_to_words(running);
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { staged_keys[staged_at(place * KEY_WORDS + i)] = keys[k].w[i]; }
      // unroll
      for (var i = 0u; i < RUN_WORDS; i++) { staged_words[staged_at(place * RUN_WORDS + i)] = words.w[i]; }
    }
    running = combine(running, elements[k]);
  }
  workgroupBarrier();

  // 3. Neighbours write neighbouring words. The first of all runs has none before it.
  for (var word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    output[params.output_offset + start * KEY_WORDS + word] = staged_keys[staged_at(word)];
  }
  for (var word = seat + select(0u, RUN_WORDS, start == 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[params.output_values_offset + start * RUN_WORDS + word - RUN_WORDS] = staged_words[staged_at(word)];
  }
}
