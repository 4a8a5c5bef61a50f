// chain/state_words64: a tile's state in 64-bit atomic words, each with 32 bits of the value below the epoch and a status. Aggregate
// and prefix have words of their own, so that a prefix of which only some words are there hides no aggregate.

alias StateWord = u64;

struct State {
  status: u32,
  value: T,
}

// What is above the value in each word of this epoch. One of another epoch says nothing.
fn state_tag(epoch: u32, status: u32) -> u32 {
  return (epoch << 2u) | status;
}

fn state_publish(epoch: u32, tile: u32, status: u32, value: T) {
  let first = (tile * 2u + select(0u, 1u, status == STATUS_PREFIX)) * ELEMENT_WORDS;
  var words = element_to_words(value);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&states[first + i], (u64(state_tag(epoch, status)) << 32u) | u64(words.w[i]));
  }
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
fn state_blank(epoch: u32, tile: u32) {
  let first = tile * 2u * ELEMENT_WORDS;
  for (var i = 0u; i < 2u * ELEMENT_WORDS; i++) {
    atomicStore(&states[first + i], u64(state_tag(epoch, STATUS_NONE)) << 32u);
  }
}

// Publishes another tile's aggregate: the same bits as that tile would.
fn state_help(epoch: u32, tile: u32, aggregate: T) {
  state_publish(epoch, tile, STATUS_AGGREGATE, aggregate);
}

// The prefix, or the aggregate, or neither, of which all words are there. All are on their way at once.
fn state_read(epoch: u32, tile: u32) -> State {
  let first = tile * 2u * ELEMENT_WORDS;
  var aggregates: array<u64, ELEMENT_WORDS>;
  var prefixes: array<u64, ELEMENT_WORDS>;
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    aggregates[i] = atomicLoad(&states[first + i]);
    prefixes[i] = atomicLoad(&states[first + ELEMENT_WORDS + i]);
  }
  var aggregate: Words;
  var prefix: Words;
  var no_aggregate = 0u;
  var no_prefix = 0u;
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    aggregate.w[i] = u32(aggregates[i] & 0xfffffffflu);
    prefix.w[i] = u32(prefixes[i] & 0xfffffffflu);
    no_aggregate |= u32(aggregates[i] >> 32u) ^ state_tag(epoch, STATUS_AGGREGATE);
    no_prefix |= u32(prefixes[i] >> 32u) ^ state_tag(epoch, STATUS_PREFIX);
  }
  if (no_prefix == 0u) { return State(STATUS_PREFIX, element_from_words(prefix)); }
  return State(select(STATUS_NONE, STATUS_AGGREGATE, no_aggregate == 0u), element_from_words(aggregate));
}
