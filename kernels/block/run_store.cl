// block/run_store: what runs leave: a key where one begins, and the total of the one before it. With STAGED they are gathered in workgroup
// memory, so many an invocation at a time, and written densely from there.

#define STAGE (STAGED == 0u ? 1u : WORKGROUP * STAGED)

typedef struct {
  u32 keys[STAGE * KEY_WORDS];
  u32 totals[STAGE * RUN_WORDS];
} RunStage;

u32 run_heads(T v) {
  return element_to_words(v).w[RUN_WORDS];
}

// The total of the last run that began before here, if one did.
void store_run_total(__global u32 *output_values, T before) {
  const u32 runs = run_heads(before);
  if (runs == 0u) { return; }
  const Words words = element_to_words(before);
  const size_t at = (size_t)(runs - 1u) * RUN_WORDS;
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { output_values[at + i] = words.w[i]; }
}

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element.
void store_own_runs(__global u32 *output, __global u32 *output_values, const Runs *runs, T before) {
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (run_heads(runs->elements[k]) != 0u) {
      const size_t place = (size_t)run_heads(running) * KEY_WORDS;
#pragma unroll
      for (u32 i = 0u; i < KEY_WORDS; i++) { output[place + i] = runs->keys[k].w[i]; }
      store_run_total(output_values, running);
    }
    running = combine(running, runs->elements[k]);
  }
}

// Of the tile `count` runs begin, the first of which has place `start`; `before` is what lies before the invocation's elements. All
// invocations call it together.
void store_runs(
  __global u32 *output, __global u32 *output_values, const Runs *runs, T before, u32 start, u32 count, u32 thread,
  __local RunStage *stage
) {
  if (STAGED == 0u) {
    store_own_runs(output, output_values, runs, before);
    return;
  }
  for (u32 done = 0u; done < count; done += STAGE) {
    // The stage is free.
    workgroup_barrier();
    T running = before;
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      // Of runs that were written before, this is beyond the stage too.
      const u32 place = run_heads(running) - start - done;
      if (run_heads(runs->elements[k]) != 0u && place < STAGE) {
        const Words words = element_to_words(running);
#pragma unroll
        for (u32 i = 0u; i < KEY_WORDS; i++) { stage->keys[place * KEY_WORDS + i] = runs->keys[k].w[i]; }
#pragma unroll
        for (u32 i = 0u; i < RUN_WORDS; i++) { stage->totals[place * RUN_WORDS + i] = words.w[i]; }
      }
      running = combine(running, runs->elements[k]);
    }
    workgroup_barrier();
    const u32 staged = min(count - done, STAGE);
    const size_t at = start + done;
    for (u32 j = thread; j < staged * KEY_WORDS; j += WORKGROUP) { output[at * KEY_WORDS + j] = stage->keys[j]; }
    // The first of all runs has none before it.
    const u32 first = at == 0u ? RUN_WORDS : 0u;
    for (u32 j = thread + first; j < staged * RUN_WORDS; j += WORKGROUP) {
      output_values[at * RUN_WORDS + j - RUN_WORDS] = stage->totals[j];
    }
  }
}
