// chain/state_word64: a tile's state in one 64-bit atomic word, the run's number and the status above a value of 32 bits.
// Nothing orders one word against another in WGSL, so they must travel together.

alias StateWord = u64;

struct State {
  status: u32,
  value: T,
}

fn state_word(run: u32, status: u32, value: T) -> u64 {
  return (u64((run << 2u) | status) << 32u) | u64(element_to_words(value).w[0]);
}

// What a word says in this run: one of another run says nothing.
fn state_status(run: u32, word: u64) -> u32 {
  let tag = u32(word >> 32u);
  return select(STATUS_NONE, tag & 3u, (tag >> 2u) == run);
}

fn state_publish(run: u32, tile: u32, status: u32, value: T) {
  atomicStore(&states[tile], state_word(run, status, value));
}

// Publishes another tile's aggregate, unless it has been published by now.
fn state_help(run: u32, tile: u32, aggregate: T) {
  let old = atomicLoad(&states[tile]);
  if (state_status(run, old) != STATUS_NONE) { return; }
  atomicCompareExchangeWeak(&states[tile], old, state_word(run, STATUS_AGGREGATE, aggregate));
}

fn state_read(run: u32, tile: u32) -> State {
  let word = atomicLoad(&states[tile]);
  var words: Words;
  words.w[0] = u32(word & 0xfffffffflu);
  return State(state_status(run, word), element_from_words(words));
}
