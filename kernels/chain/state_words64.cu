// chain/state_words64: a tile's state in 64-bit words, each with 32 bits of the value below the epoch and a status. Aggregate
// and prefix have words of their own, so that a prefix of which only some words are there hides no aggregate.

typedef u64 StateWord;

struct State {
  u32 status;
  T value;
};

// What is above the value in each word of this epoch. One of another epoch says nothing.
FUNCTION u32 state_tag(u32 epoch, u32 status) {
  return epoch << 2u | status;
}

FUNCTION void state_publish(StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  StateWord *first = states + ((size_t)tile * 2u + (status == STATUS_PREFIX ? 1u : 0u)) * ELEMENT_WORDS;
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    store_relaxed(&first[i], (u64)state_tag(epoch, status) << 32u | words.w[i]);
  }
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
FUNCTION void state_blank(StateWord *states, u32 slots, u32 epoch, u32 tile) {
  StateWord *first = states + (size_t)tile * 2u * ELEMENT_WORDS;
#pragma unroll
  for (u32 i = 0u; i < 2u * ELEMENT_WORDS; i++) { store_relaxed(&first[i], (u64)state_tag(epoch, STATUS_NONE) << 32u); }
}

// Publishes another tile's aggregate: the same bits as that tile would.
FUNCTION void state_help(StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  state_publish(states, slots, epoch, tile, STATUS_AGGREGATE, aggregate);
}

// The prefix, or the aggregate, or neither, of which all words are there. All are on their way at once.
FUNCTION State state_read(const StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const StateWord *first = states + (size_t)tile * 2u * ELEMENT_WORDS;
  u64 aggregates[ELEMENT_WORDS];
  u64 prefixes[ELEMENT_WORDS];
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    aggregates[i] = load_relaxed(&first[i]);
    prefixes[i] = load_relaxed(&first[ELEMENT_WORDS + i]);
  }
  Words aggregate;
  Words prefix;
  u32 no_aggregate = 0u;
  u32 no_prefix = 0u;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    aggregate.w[i] = (u32)aggregates[i];
    prefix.w[i] = (u32)prefixes[i];
    no_aggregate |= (u32)(aggregates[i] >> 32u) ^ state_tag(epoch, STATUS_AGGREGATE);
    no_prefix |= (u32)(prefixes[i] >> 32u) ^ state_tag(epoch, STATUS_PREFIX);
  }
  if (no_prefix == 0u) {
    const State state = {STATUS_PREFIX, element_from_words(prefix)};
    return state;
  }
  const State state = {no_aggregate == 0u ? STATUS_AGGREGATE : STATUS_NONE, element_from_words(aggregate)};
  return state;
}
