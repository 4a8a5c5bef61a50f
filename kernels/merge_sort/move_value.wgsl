// merge_sort/move_value: a value of any size from one buffer to the other, as its key moves.

fn move_value(to_temp: bool, from_index: u32, to_index: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    let from_word = from_index * VALUE_WORDS + word;
    let to_word = to_index * VALUE_WORDS + word;
    if (to_temp) {
      store_temp_values(to_word, load_target_values(params.target_values_offset + from_word));
    } else {
      store_target_values(params.target_values_offset + to_word, load_temp_values(from_word));
    }
  }
}
