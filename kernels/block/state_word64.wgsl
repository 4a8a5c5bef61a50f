// block/state_word64: a tile's state in one 64-bit atomic word, the status above a value of 32 bits. Nothing orders one
// word against another in WGSL, so status and value must travel together.

@group(0) @binding(2) var<storage, read_write> states: array<atomic<u64>>;

struct State {
  status: u32,
  value: T,
}

fn state_word(status: u32, value: T) -> u64 {
  return (u64(status) << 32u) | u64(element_to_words(value).w[0]);
}

fn state_publish(tile: u32, status: u32, value: T) {
  atomicStore(&states[tile], state_word(status, value));
}

// Publishes another tile's aggregate, unless that tile has published more by now.
fn state_help(tile: u32, aggregate: T) {
  atomicMax(&states[tile], state_word(STATUS_AGGREGATE, aggregate));
}

fn state_read(tile: u32) -> State {
  let word = atomicLoad(&states[tile]);
  var words: Words;
  words.w[0] = u32(word & 0xfffffffflu);
  return State(u32(word >> 32u), element_from_words(words));
}
