// sort/place_values: values of any size, each to the place of its key. An invocation's keys stand from `seat` on,
// `stride` apart, and `origins` are where they stood in the segment: their values, if
// none are given.

// In place what is moved is read through the binding that it is stored through: a compiler may take two bindings for memory
// that does not overlap, and then move a load behind a barrier and another invocation's store.
fn source_value(index: u32, word: u32) -> Value {
  var value = value_of_place(index);
  // with SOURCE_VALUES
  value = load_source_values_word(index, word);
  // with IN_PLACE
  value = load_target_values(params.target_values_offset + index * VALUE_WORDS + word);
  return value;
}

fn place_values(segment: Segment, seat: u32, stride: u32, origins: ptr<function, array<u32, ITEMS>>) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    var moved: array<Value, ITEMS>;
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let origin = segment.first + min((*origins)[k], segment.count - 1u);
      moved[k] = source_value(origin, word);
    }
    // In place, all have loaded before any stores.
    storageBarrier();
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = seat + k * stride;
      if (at < segment.count) {
        store_target_values(params.target_values_offset + (segment.first + at) * VALUE_WORDS + word, moved[k]);
      }
    }
  }
}
