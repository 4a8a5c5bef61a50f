// chain/state_word64: a tile's state in one 64-bit atomic word, the epoch and the status above a value of 32 bits.
// Nothing orders one word against another in WGSL, so they must travel together.

alias StateWord = u64;

struct State {
  status: u32,
  value: T,
}

fn state_word(epoch: u32, status: u32, value: T) -> u64 {
  return (u64((epoch << 2u) | status) << 32u) | u64(element_to_words(value).w[0]);
}

// What a word says in this epoch: one of another epoch says nothing.
fn state_status(epoch: u32, word: u64) -> u32 {
  let tag = u32(word >> 32u);
  return select(STATUS_NONE, tag & 3u, (tag >> 2u) == epoch);
}

fn state_publish(epoch: u32, tile: u32, status: u32, value: T) {
  atomicStore(&states[tile], state_word(epoch, status, value));
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
fn state_blank(epoch: u32, tile: u32) {
  state_publish(epoch, tile, STATUS_NONE, identity());
}

// Publishes another tile's aggregate, unless it has been published by now.
fn state_help(epoch: u32, tile: u32, aggregate: T) {
  let old = atomicLoad(&states[tile]);
  if (state_status(epoch, old) != STATUS_NONE) { return; }
  atomicCompareExchangeWeak(&states[tile], old, state_word(epoch, STATUS_AGGREGATE, aggregate));
}

fn state_read(epoch: u32, tile: u32) -> State {
  let word = atomicLoad(&states[tile]);
  var words: Words;
  words.w[0] = u32(word & 0xfffffffflu);
  return State(state_status(epoch, word), element_from_words(words));
}
