// chain/state_wide: a tile's state in 32-bit words, each with 16 bits of the value below a tag, which tells the epoch.
// Aggregates and prefixes have words of their own: a reader who finds the epoch's tag in every word of a value has that value.
// WGSL and OpenCL C alone, for devices without 64-bit atomics: all CUDA devices have them.

typedef u32 StateWord;

typedef struct {
  u32 status;
  T value;
} State;

// The tag in a word's upper half. Zero is nobody's.
u32 state_tag(u32 epoch) {
  return 0x80000000u | (epoch << 16u);
}

// Where the words of a tile's aggregate or prefix begin.
size_t state_first(u32 slots, u32 tile, u32 status) {
  return ((size_t)(status == STATUS_PREFIX ? slots : 0u) + tile) * (2u * ELEMENT_WORDS);
}

void state_publish(__global StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  __global StateWord *first = states + state_first(slots, tile, status);
  const u32 tag = status == STATUS_NONE ? 0u : state_tag(epoch);
  const Words words = element_to_words(value);
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    store_relaxed_u32(&first[2u * i], tag | (words.w[i] & 0xffffu));
    store_relaxed_u32(&first[2u * i + 1u], tag | (words.w[i] >> 16u));
  }
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
void state_blank(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
#pragma unroll
  for (u32 i = 0u; i < 2u * ELEMENT_WORDS; i++) {
    store_relaxed_u32(&states[state_first(slots, tile, STATUS_AGGREGATE) + i], 0u);
    store_relaxed_u32(&states[state_first(slots, tile, STATUS_PREFIX) + i], 0u);
  }
}

// Publishes another tile's aggregate: the same bits as that tile would.
void state_help(__global StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  state_publish(states, slots, epoch, tile, STATUS_AGGREGATE, aggregate);
}

// The state with this status, or one with STATUS_NONE if a word of it is missing.
State state_read_one(__global StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status) {
  __global StateWord *first = states + state_first(slots, tile, status);
  const u32 tag = state_tag(epoch);
  Words words;
  u32 difference = 0u;
#pragma unroll
  for (u32 i = 0u; i < ELEMENT_WORDS; i++) {
    const u32 low = load_relaxed_u32(&first[2u * i]);
    const u32 high = load_relaxed_u32(&first[2u * i + 1u]);
    difference |= (low ^ tag) | (high ^ tag);
    words.w[i] = (low & 0xffffu) | (high << 16u);
  }
  State state = {difference < 0x10000u ? status : STATUS_NONE, element_from_words(words)};
  return state;
}

State state_read(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const State prefix = state_read_one(states, slots, epoch, tile, STATUS_PREFIX);
  if (prefix.status == STATUS_PREFIX) { return prefix; }
  return state_read_one(states, slots, epoch, tile, STATUS_AGGREGATE);
}
