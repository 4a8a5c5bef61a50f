// reduce_by_key/run_values: an element of a run brings a value.

fn load_run_word(index: u32, word: u32) -> u32 {
  return load_input_values_word(index, word);
}
