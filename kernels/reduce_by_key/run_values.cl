// reduce_by_key/run_values: an element of a run brings a value.

u32 load_run_word(InputValues input_values, u32 index, u32 word) {
  return load_input_values_word(input_values, index, word);
}
