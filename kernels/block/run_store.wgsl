// block/run_store: what runs leave: a key where one begins, and the total of the one before it. With STAGED they are gathered in workgroup
// memory, so many an invocation at a time, and written densely from there.

const STAGE: u32 = max(WORKGROUP * STAGED, 1u);

var<workgroup> staged_keys: array<u32, STAGE * KEY_WORDS>;
var<workgroup> staged_totals: array<u32, STAGE * RUN_WORDS>;
var<workgroup> shared_runs: u32;

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

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element.
fn store_own_runs(runs: Runs, before: T) {
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (run_heads(runs.elements[k]) != 0u) {
      let place = params.output_offset + run_heads(running) * KEY_WORDS;
      // unroll
      for (var i = 0u; i < KEY_WORDS; i++) { output[place + i] = runs.keys[k].w[i]; }
      store_run_total(running);
    }
    running = combine(running, runs.elements[k]);
  }
}

// Of the tile `count` runs begin, the first of which has place `start`; `before` is what lies before the invocation's elements. All
// invocations call it together.
fn store_runs(runs: Runs, before: T, start: u32, count: u32, thread: u32) {
  if (STAGED == 0u) {
    store_own_runs(runs, before);
    return;
  }
  if (thread == 0u) { shared_runs = count; }
  let all = workgroupUniformLoad(&shared_runs);
  for (var done = 0u; done < all; done += STAGE) {
    // The stage is free.
    workgroupBarrier();
    var running = before;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      // Of runs that were written before, this is beyond the stage too.
      let place = run_heads(running) - start - done;
      if (run_heads(runs.elements[k]) != 0u && place < STAGE) {
        let words = element_to_words(running);
        // unroll
        for (var i = 0u; i < KEY_WORDS; i++) { staged_keys[place * KEY_WORDS + i] = runs.keys[k].w[i]; }
        // unroll
        for (var i = 0u; i < RUN_WORDS; i++) { staged_totals[place * RUN_WORDS + i] = words.w[i]; }
      }
      running = combine(running, runs.elements[k]);
    }
    workgroupBarrier();
    let staged = min(all - done, STAGE);
    let at = start + done;
    for (var j = thread; j < staged * KEY_WORDS; j += WORKGROUP) {
      output[params.output_offset + at * KEY_WORDS + j] = staged_keys[j];
    }
    // The first of all runs has none before it.
    for (var j = thread + select(0u, RUN_WORDS, at == 0u); j < staged * RUN_WORDS; j += WORKGROUP) {
      output_values[params.output_values_offset + at * RUN_WORDS + j - RUN_WORDS] = staged_totals[j];
    }
  }
}
