// histogram/weights: each element counts as what stands beside it, whose bits are a word.

fn amount_of(index: u32) -> u32 {
  return load_input_values_word(index, 0u);
}
