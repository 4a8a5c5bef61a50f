// reduce_by_key/run_store: what runs leave: a key where one begins, and the total of the one before it. Each invocation stores those among its elements.

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element; of the tile
// `count` runs begin, the first of which has place `start`.
fn store_runs(runs: Runs, tile: u32, before: T, start: u32, count: u32, seat: u32) {
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (run_heads(runs.elements[k]) != 0u) {
      let place = params.output_offset + run_heads(running) * KEY_WORDS;
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { store_output(place + i, runs.keys[k].w[i]); }
      store_run_total(running);
    }
    running = combine(running, runs.elements[k]);
  }
}
