// sort/swap_values: values of any number of words move as their keys move, from one buffer to the other.

@group(0) @binding(2) var<storage, read_write> temp_values: array<u32>;
@group(0) @binding(3) var<storage, read_write> output_values: array<u32>;

fn move_value(from_temp: bool, from_index: u32, to_index: u32) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    let from_word = from_index * VALUE_WORDS + word;
    let to_word = to_index * VALUE_WORDS + word;
    if (from_temp) {
      output_values[params.output_values_offset + to_word] = temp_values[from_word];
    } else {
      temp_values[to_word] = output_values[params.output_values_offset + from_word];
    }
  }
}
