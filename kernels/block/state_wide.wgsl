// block/state_wide: a tile's state in 32-bit atomic words, each with 16 bits of the value below a flag. Aggregates and
// prefixes have words of their own, written once: a reader who finds every flag of a value has that value.

@group(0) @binding(2) var<storage, read_write> states: array<atomic<u32>>;

struct State {
  status: u32,
  value: T,
}

const STATE_FLAG: u32 = 0x10000u;

// Where the words of a tile's aggregate or prefix begin.
fn state_first(tile: u32, status: u32) -> u32 {
  return ((status - STATUS_AGGREGATE) * params.tiles + tile) * (2u * ELEMENT_WORDS);
}

fn state_publish(tile: u32, status: u32, value: T) {
  let first = state_first(tile, status);
  var words = element_to_words(value);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&states[first + 2u * i], STATE_FLAG | (words.w[i] & 0xffffu));
    atomicStore(&states[first + 2u * i + 1u], STATE_FLAG | (words.w[i] >> 16u));
  }
}

// Publishes another tile's aggregate: the same bits as that tile would.
fn state_help(tile: u32, aggregate: T) {
  state_publish(tile, STATUS_AGGREGATE, aggregate);
}

// The state with this status, or one with STATUS_NONE if a word of it is missing.
fn state_read_one(tile: u32, status: u32) -> State {
  let first = state_first(tile, status);
  var words: Words;
  var flags = STATE_FLAG;
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    let low = atomicLoad(&states[first + 2u * i]);
    let high = atomicLoad(&states[first + 2u * i + 1u]);
    flags &= low & high;
    words.w[i] = (low & 0xffffu) | (high << 16u);
  }
  return State(select(STATUS_NONE, status, flags != 0u), element_from_words(words));
}

fn state_read(tile: u32) -> State {
  let prefix = state_read_one(tile, STATUS_PREFIX);
  if (prefix.status == STATUS_PREFIX) { return prefix; }
  return state_read_one(tile, STATUS_AGGREGATE);
}
