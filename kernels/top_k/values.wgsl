// top_k/values: what goes beside a key: its value, of any size, or its index.

fn give_value(at: u32, index: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    var value = value_of_place(index);
    // with SOURCE_VALUES
    value = load_input_values_word(index, word);
    store_target_values(params.target_values_offset + at * VALUE_WORDS + word, value);
  }
}
