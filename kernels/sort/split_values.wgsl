// sort/split_values: values of any number of words move as their keys move.

fn move_value(from_index: u32, to_index: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    store_target_values(params.target_values_offset + to_index * VALUE_WORDS + word, load_source_values(params.source_values_offset + from_index * VALUE_WORDS + word));
  }
}
