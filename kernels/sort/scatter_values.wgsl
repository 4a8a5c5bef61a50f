// sort/scatter_values: values of any number of words, one word at a time to where sort/scatter brings their keys. WGSL
// alone: there a tile is brought in order by parts, which through Vulkan is faster. OpenCL C and CUDA C bring a whole tile
// in order, and have sort/values.

// The caller's values, or the keys' places if none are given.
fn input_value(index: u32, word: u32) -> u32 {
  var value = index;
  // with SOURCE_VALUES
  value = load_input_values(params.input_values_offset + index * VALUE_WORDS + word);
  return value;
}

// A word of this invocation's values, with one branch for all loads, as with the keys. The first words are loaded before there is
// a use for them: they come while others wait.
fn load_values(source: u32, first: u32, width: u32, word: u32, moved: ptr<function, array<u32, ITEMS>>) {
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

// A word of the values that stand in the exchange from `begin` on, a row apart, to their keys' targets.
fn store_values(destination: u32, word: u32, begin: u32, count: u32, targets: ptr<function, array<u32, BATCH>>) {
  let values = (MOVED - 1u) * PART;
  if (destination == BUFFER_TEMP) {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      let at = begin + k * WORKGROUP;
      if (at < count) { store_temp_values((*targets)[k] * VALUE_WORDS + word, exchange[values + at]); }
    }
  } else {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      let at = begin + k * WORKGROUP;
      if (at < count) {
        store_output_values(params.output_values_offset + (*targets)[k] * VALUE_WORDS + word, exchange[values + at]);
      }
    }
  }
}
