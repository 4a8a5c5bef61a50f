// sort/split_values: values of any size move as their keys move. If none are given, they are places.

fn move_value(from_index: u32, to_index: u32, place: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    var value = value_of_place(place);
    // with SOURCE_VALUES
    value = load_source_values_word(from_index, word);
    store_target_values(params.target_values_offset + to_index * VALUE_WORDS + word, value);
  }
}
