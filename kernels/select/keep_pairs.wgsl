// select/keep_pairs: a selection asks keys, and writes them and the values beside them.

alias StoredKept = StoredItem;
struct Held {
  item: Item,
  w: array<Value, VALUE_WORDS>,
}

// What is held of an element until its place is known: itself, and its value, if that is to be written.
fn hold(item: Item, index: u32, wanted: bool) -> Held {
  var held: Held;
  held.item = item;
  if (wanted) {
    // unroll
    for (var word = 0u; word < VALUE_WORDS; word++) { held.w[word] = load_input_values_word(index, word); }
  }
  return held;
}

fn store_kept(place: u32, held: Held) {
  var value = held;
  store_output(params.output_offset + place, value.item);
  // unroll
  for (var word = 0u; word < VALUE_WORDS; word++) {
    store_output_values(params.output_values_offset + place * VALUE_WORDS + word, value.w[word]);
  }
}

// Of pairs nothing but what is kept is written.
fn store_rest(place: u32, held: Held) {}
