// reduce_by_key/run_values: an element of a run brings a value.

u32 load_run_word(__global const u32 *input_values, u32 index, u32 word) {
  return input_values[(size_t)index * RUN_WORDS + word];
}
