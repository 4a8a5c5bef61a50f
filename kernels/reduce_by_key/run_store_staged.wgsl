// reduce_by_key/run_store_staged: reduce_by_key/run_store by way of workgroup memory, where a tile's elements are (reduce_by_key/run_load_staged): its runs are
// gathered there, and written densely.

// `before` is what lies before the invocation's first element; of the tile `count` runs begin, the first of which has place `start`.
// All invocations call it together, and `tile` is that of `runs`: WGSL must see that it is the same for all.
fn store_runs(runs: Runs, tile: u32, before: T, start: u32, count: u32, seat: u32) {
  // 1. A stuck tile's elements may have replaced this one's.
  if (workgroupUniformLoad(&staged_tile) != tile) { load_tile(runs); }

  // 2. Gather the keys of the runs that begin here.
  var keys: array<RunKey, ROWS>;
  // unroll
  for (var k = 0u; k < ROWS; k++) { keys[k] = load_key(seat, k); }
  workgroupBarrier();
  var place = run_heads(before) - start;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (((runs.heads >> k) & 1u) == 1u) {
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { staged_keys[place * KEY_WORDS + i] = keys[k].w[i]; }
      place++;
    }
  }

  // 3. Where a run begins, the total of the one before it is known. Keys and elements one after the other are fewer to hold at once.
  var elements: array<T, ROWS>;
  // unroll
  for (var k = 0u; k < ROWS; k++) { elements[k] = load_element(runs, k); }
  workgroupBarrier();
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (((runs.heads >> k) & 1u) == 1u) {
      let words = element_to_words(running);
      let at = run_heads(running) - start;
      // unroll
      for (var i = 0u; i < RUN_WORDS; i++) { staged_words[at * RUN_WORDS + i] = words.w[i]; }
    }
    running = combine(running, elements[k]);
  }
  workgroupBarrier();

  // 4. Neighbours write neighbouring words. The first of all runs has none before it.
  for (var word = seat; word < count * KEY_WORDS; word += WORKGROUP) {
    store_output(params.output_offset + start * KEY_WORDS + word, staged_keys[word]);
  }
  for (var word = seat + select(0u, RUN_WORDS, start == 0u); word < count * RUN_WORDS; word += WORKGROUP) {
    output_values[params.output_values_offset + start * RUN_WORDS + word - RUN_WORDS] = staged_words[word];
  }
}
