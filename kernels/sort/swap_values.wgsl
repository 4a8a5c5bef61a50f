// sort/swap_values: values of any size move as their keys move, from one buffer to the other.

fn move_value(from_temp: bool, from_index: u32, to_index: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    let from_word = from_index * VALUE_WORDS + word;
    let to_word = to_index * VALUE_WORDS + word;
    if (from_temp) {
      store_output_values(params.output_values_offset + to_word, load_temp_values(from_word));
    } else {
      store_temp_values(to_word, load_output_values(params.output_values_offset + from_word));
    }
  }
}
