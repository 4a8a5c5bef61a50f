// merge_sort/store_values: values of any size, each to the place of its key. `origins` are where the keys stood in the tile: their values,
// if none are given.

// In place through the binding that values are stored through, as `source_key` is.
fn source_value(first: u32, origin: u32, word: u32) -> Value {
  var value = value_of_place(origin);
  // with SOURCE_VALUES
  value = load_source_values_word(first + origin, word);
  // with IN_PLACE
  value = load_output_values(params.output_values_offset + (first + origin) * VALUE_WORDS + word);
  return value;
}

fn store_value(here: Span, at: u32, word: u32, value: Value) {
  // with MERGES
  if ((at < here.begin) | (at >= here.end)) { store_temp_values(at * VALUE_WORDS + word, value); return; }
  store_output_values(params.output_values_offset + at * VALUE_WORDS + word, value);
}

fn store_values(here: Span, first: u32, count: u32, thread: u32, origins: ptr<function, array<u32, ITEMS>>) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    var moved: array<Value, ITEMS>;
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let origin = select((*origins)[k], min((*origins)[k], count - 1u), SOURCE_VALUES > 0u);
      moved[k] = source_value(first, origin, word);
    }
    // In place, all have loaded before any stores.
    storageBarrier();
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < count) { store_value(here, first + at, word, moved[k]); }
    }
  }
}
