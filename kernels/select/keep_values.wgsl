// select/keep_values: a selection asks flags, and writes the values beside them.

alias StoredKept = StoredValue;
struct Held {
  w: array<Value, VALUE_WORDS>,
}

// What is held of an element until its place is known: its value, if that is to be written.
fn hold(item: Item, index: u32, wanted: bool) -> Held {
  var held: Held;
  if (wanted) {
    // unroll
    for (var word = 0u; word < VALUE_WORDS; word++) { held.w[word] = load_input_values_word(index, word); }
  }
  return held;
}

fn store_kept(place: u32, held: Held) {
  var value = held;
  // unroll
  for (var word = 0u; word < VALUE_WORDS; word++) { store_output(params.output_offset + place * VALUE_WORDS + word, value.w[word]); }
}

fn store_rest(place: u32, held: Held) {
  var value = held;
  // unroll
  for (var word = 0u; word < VALUE_WORDS; word++) {
    store_output_rest(params.output_rest_offset + place * VALUE_WORDS + word, value.w[word]);
  }
}
