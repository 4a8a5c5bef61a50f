// reduce_by_key/run_store: what runs leave: a key where one begins, and the total of the one before it. Each invocation stores those among its elements.

// Where a run begins, its key and the total of the run before are known. `before` is what lies before the first element; of the tile
// `count` runs begin, the first of which has place `start`.
void store_runs(
  __global StoredRun *output, __global u32 *output_values, const Runs *runs, u32 tile, T before, u32 start, u32 count, u32 seat,
  __local RunStage *stage
) {
  T running = before;
#ifdef EMULATED_SUBGROUPS
  // Unrolled by PoCL's optimiser, the last turn of some tiles is lost.
#pragma unroll 1
#else
#pragma unroll
#endif
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
