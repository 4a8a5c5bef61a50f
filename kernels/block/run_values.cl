// block/run_values: an element of a run brings a value.

#define TILE_VALUES true

u32 load_run_word(__global const u32 *input_values, size_t word) {
  return input_values[word];
}
