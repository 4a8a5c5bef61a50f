// chain/state_wide: a tile's state in 32-bit atomic words, each with 16 bits of the value below a tag, which tells the epoch.
// Aggregates and prefixes have words of their own: a reader who finds the epoch's tag in every word of a value has that value.
// WGSL and OpenCL C alone, for devices without 64-bit atomics: all CUDA devices have them.

alias StateWord = u32;

struct State {
  status: u32,
  value: T,
}

// The tag in a word's upper half. Zero is nobody's.
fn state_tag(epoch: u32) -> u32 {
  return 0x80000000u | (epoch << 16u);
}

// Where the words of a tile's aggregate or prefix begin.
fn state_first(tile: u32, status: u32) -> u32 {
  return (select(0u, params.slots, status == STATUS_PREFIX) + tile) * (2u * ELEMENT_WORDS);
}

fn state_publish(epoch: u32, tile: u32, status: u32, value: T) {
  let first = state_first(tile, status);
  let tag = select(state_tag(epoch), 0u, status == STATUS_NONE);
  var words = element_to_words(value);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&states[first + 2u * i], tag | (words.w[i] & 0xffffu));
    atomicStore(&states[first + 2u * i + 1u], tag | (words.w[i] >> 16u));
  }
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
fn state_blank(epoch: u32, tile: u32) {
  for (var i = 0u; i < 2u * ELEMENT_WORDS; i++) {
    atomicStore(&states[state_first(tile, STATUS_AGGREGATE) + i], 0u);
    atomicStore(&states[state_first(tile, STATUS_PREFIX) + i], 0u);
  }
}

// Publishes another tile's aggregate: the same bits as that tile would.
fn state_help(epoch: u32, tile: u32, aggregate: T) {
  state_publish(epoch, tile, STATUS_AGGREGATE, aggregate);
}

// The state with this status, or one with STATUS_NONE if a word of it is missing.
fn state_read_one(epoch: u32, tile: u32, status: u32) -> State {
  let first = state_first(tile, status);
  let tag = state_tag(epoch);
  var words: Words;
  var difference = 0u;
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    let low = atomicLoad(&states[first + 2u * i]);
    let high = atomicLoad(&states[first + 2u * i + 1u]);
    difference |= (low ^ tag) | (high ^ tag);
    words.w[i] = (low & 0xffffu) | (high << 16u);
  }
  return State(select(STATUS_NONE, status, difference < 0x10000u), element_from_words(words));
}

fn state_read(epoch: u32, tile: u32) -> State {
  let prefix = state_read_one(epoch, tile, STATUS_PREFIX);
  if (prefix.status == STATUS_PREFIX) { return prefix; }
  return state_read_one(epoch, tile, STATUS_AGGREGATE);
}
