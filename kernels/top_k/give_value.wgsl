// top_k/give_value: what goes beside a key: its value, of any size, or its place in its segment. Where there is no key, values are zeros
// and a place is the greatest word.

fn give_value(at: u32, index: u32, begin: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    var value = value_of_place(select(NO_VALUE, index - begin, index < params.n));
    // with SOURCE_VALUES
    if (index < params.n) { value = load_input_values_word(index, word); }
    store_target_values(params.target_values_offset + at * VALUE_WORDS + word, value);
  }
}
