// chain/state_word64: a tile's state in one 64-bit word, the epoch and the status above a value of 32 bits. One relaxed
// access moves all, so nothing has to be ordered.

typedef u64 StateWord;

typedef struct {
  u32 status;
  T value;
} State;

u64 state_word(u32 epoch, u32 status, T value) {
  return ((u64)(epoch << 2u | status) << 32u) | element_to_words(value).w[0];
}

// What a word says in this epoch: one of another epoch says nothing.
u32 state_status(u32 epoch, u64 word) {
  const u32 tag = (u32)(word >> 32u);
  return tag >> 2u == epoch ? tag & 3u : STATUS_NONE;
}

void state_publish(__global StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  store_relaxed_u64(&states[tile], state_word(epoch, status, value));
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
void state_blank(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  state_publish(states, slots, epoch, tile, STATUS_NONE, identity());
}

// Publishes another tile's aggregate, unless it has been published by now.
void state_help(__global StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  const u64 old = load_relaxed_u64(&states[tile]);
  if (state_status(epoch, old) != STATUS_NONE) { return; }
  atomic_replace_u64(&states[tile], old, state_word(epoch, STATUS_AGGREGATE, aggregate));
}

State state_read(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const u64 word = load_relaxed_u64(&states[tile]);
  Words words;
  words.w[0] = (u32)word;
  State state = {state_status(epoch, word), element_from_words(words)};
  return state;
}
