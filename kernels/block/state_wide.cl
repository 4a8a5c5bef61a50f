// block/state_wide: a tile's state in 32-bit words, each with 16 bits of the value below a flag. Aggregates and prefixes
// have words of their own, written once: a reader who finds every flag of a value has that value.

typedef u32 StateWord;

typedef struct {
  u32 status;
  T value;
} State;

#define STATE_FLAG 0x10000u

// Where the words of a tile's aggregate or prefix begin.
size_t state_first(u32 tiles, u32 tile, u32 status) {
  return ((size_t)(status - STATUS_AGGREGATE) * tiles + tile) * (2u * ELEMENT_WORDS);
}

void state_publish(__global StateWord *states, u32 tiles, u32 tile, u32 status, T value) {
  __global StateWord *first = states + state_first(tiles, tile, status);
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    store_relaxed_u32(&first[2u * i], STATE_FLAG | (words.w[i] & 0xffffu));
    store_relaxed_u32(&first[2u * i + 1u], STATE_FLAG | (words.w[i] >> 16u));
  }
}

// Publishes another tile's aggregate: the same bits as that tile would.
void state_help(__global StateWord *states, u32 tiles, u32 tile, T aggregate) {
  state_publish(states, tiles, tile, STATUS_AGGREGATE, aggregate);
}

// The state with this status, or one with STATUS_NONE if a word of it is missing.
State state_read_one(__global StateWord *states, u32 tiles, u32 tile, u32 status) {
  __global StateWord *first = states + state_first(tiles, tile, status);
  Words words;
  u32 flags = STATE_FLAG;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    const u32 low = load_relaxed_u32(&first[2u * i]);
    const u32 high = load_relaxed_u32(&first[2u * i + 1u]);
    flags &= low & high;
    words.w[i] = (low & 0xffffu) | (high << 16u);
  }
  State state = {flags != 0u ? status : STATUS_NONE, element_from_words(words)};
  return state;
}

State state_read(__global StateWord *states, u32 tiles, u32 tile) {
  const State prefix = state_read_one(states, tiles, tile, STATUS_PREFIX);
  if (prefix.status == STATUS_PREFIX) { return prefix; }
  return state_read_one(states, tiles, tile, STATUS_AGGREGATE);
}
