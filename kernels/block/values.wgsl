// block/values: values of any number of words move as their keys moved, one word at a time through workgroup memory.

@group(0) @binding(3) var<storage, read_write> input_values: array<u32>;
@group(0) @binding(4) var<storage, read_write> temp_values: array<u32>;
@group(0) @binding(5) var<storage, read_write> output_values: array<u32>;

fn load_value(source: u32, index: u32) -> u32 {
  if (source == BUFFER_INPUT) { return input_values[params.input_values_offset + index]; }
  if (source == BUFFER_TEMP) { return temp_values[index]; }
  return output_values[params.output_values_offset + index];
}

fn store_value(destination: u32, index: u32, value: u32) {
  if (destination == BUFFER_TEMP) {
    temp_values[index] = value;
  } else {
    output_values[params.output_values_offset + index] = value;
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
  positions: ptr<function, array<u32, ITEMS>>,
  targets: ptr<function, array<u32, ITEMS>>,
) {
  for (var word = 0u; word < VALUE_WORDS; word++) {
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let index = first + k * width;
      if (index < params.n) {
        exchange[(*positions)[k]] = load_value(source, index * VALUE_WORDS + word);
      }
    }
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < valid) { store_value(destination, (*targets)[k] * VALUE_WORDS + word, exchange[at]); }
    }
  }
}
