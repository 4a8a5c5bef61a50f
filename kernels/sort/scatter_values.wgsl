// sort/scatter_values: values of any size, a word or a vector at a time to where sort/scatter brings their keys. WGSL
// alone: there a tile is brought in order by parts, which through Vulkan is faster. OpenCL C and CUDA C bring a whole tile
// in order, and have sort/values.

// The caller's values, or the keys' places if none are given.
fn input_value(index: u32, word: u32) -> Value {
  var value = value_of_place(index);
  // with SOURCE_VALUES
  value = load_input_values_word(index, word);
  return value;
}

// The part of a value that stands in the exchange.
fn exchanged_value(at: u32) -> Value {
  var value = value_of_place(0u);
  // unroll
  for (var word = 0u; word < VALUE_SIZE; word++) { value = value_with_word(value, word, exchange[(KEY_WORDS + word) * PART + at]); }
  return value;
}

// A part of this invocation's values, with one branch for all loads, as with the keys. The first parts are loaded before there is
// a use for them: they come while others wait.
fn load_values(source: u32, first: u32, width: u32, word: u32, moved: ptr<function, array<Value, ITEMS>>) {
  let last = params.n - 1u;
  if (source == BUFFER_INPUT) {
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      (*moved)[k] = input_value(min(first + k * width, last), word);
    }
  } else if (source == BUFFER_TEMP) {
    // unroll
    for (var k = 0u; k < ITEMS; k++) { (*moved)[k] = load_temp_values(min(first + k * width, last) * VALUE_WORDS + word); }
  } else {
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      (*moved)[k] = load_output_values(params.output_values_offset + min(first + k * width, last) * VALUE_WORDS + word);
    }
  }
}

// A part of the values that stand in the exchange from `begin` on, a row apart, to their keys' targets.
fn store_values(destination: u32, word: u32, begin: u32, count: u32, targets: ptr<function, array<u32, BATCH>>) {
  if (destination == BUFFER_TEMP) {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      let at = begin + k * WORKGROUP;
      if (at < count) { store_temp_values((*targets)[k] * VALUE_WORDS + word, exchanged_value(at)); }
    }
  } else {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      let at = begin + k * WORKGROUP;
      if (at < count) {
        store_output_values(params.output_values_offset + (*targets)[k] * VALUE_WORDS + word, exchanged_value(at));
      }
    }
  }
}
