// block/values: values of any number of words move as their keys moved, one word at a time through workgroup memory.

@group(0) @binding(3) var<storage, read_write> input_values: array<u32>;
@group(0) @binding(4) var<storage, read_write> temp_values: array<u32>;
@group(0) @binding(5) var<storage, read_write> output_values: array<u32>;

// A word of this invocation's values, with one branch for all loads, as with the keys. The first words are loaded before there is
// a use for them: they come while others wait.
fn load_values(source: u32, first: u32, width: u32, word: u32, moved: ptr<function, array<u32, ITEMS>>) {
  let last = params.n - 1u;
  if (source == BUFFER_INPUT) {
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      (*moved)[k] = input_values[params.input_values_offset + min(first + k * width, last) * VALUE_WORDS + word];
    }
  } else if (source == BUFFER_TEMP) {
    // unroll
    for (var k = 0u; k < ITEMS; k++) { (*moved)[k] = temp_values[min(first + k * width, last) * VALUE_WORDS + word]; }
  } else {
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      (*moved)[k] = output_values[params.output_values_offset + min(first + k * width, last) * VALUE_WORDS + word];
    }
  }
}

// `positions` are where this invocation's keys went in the tile, `targets` where the tile's keys at its turns go.
fn move_values(
  source: u32,
  destination: u32,
  first: u32,
  width: u32,
  thread: u32,
  valid: u32,
  moved: ptr<function, array<u32, ITEMS>>,
  positions: ptr<function, array<u32, ITEMS>>,
  targets: ptr<function, array<u32, ITEMS>>,
) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    if (word > 0u) { load_values(source, first, width, word, moved); }
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) { exchange[(*positions)[k]] = (*moved)[k]; }
    workgroupBarrier();
    if (destination == BUFFER_TEMP) {
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = k * WORKGROUP + thread;
        if (at < valid) { temp_values[(*targets)[k] * VALUE_WORDS + word] = exchange[at]; }
      }
    } else {
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = k * WORKGROUP + thread;
        if (at < valid) {
          output_values[params.output_values_offset + (*targets)[k] * VALUE_WORDS + word] = exchange[at];
        }
      }
    }
  }
}
