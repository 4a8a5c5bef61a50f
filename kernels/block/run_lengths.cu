// block/run_lengths: every element of a run counts as one, so that the run's total is its length.

#define TILE_VALUES false

FUNCTION u32 load_run_word(const u32 *input_values, size_t word) {
  return 1u;
}
