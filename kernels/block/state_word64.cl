// block/state_word64: a tile's state in one 64-bit word, the status above a value of 32 bits. One relaxed access moves
// both, so nothing has to be ordered.

typedef u64 StateWord;

typedef struct {
  u32 status;
  T value;
} State;

u64 state_word(u32 status, T value) {
  return ((u64)status << 32u) | element_to_words(value).w[0];
}

void state_publish(__global StateWord *states, u32 tiles, u32 tile, u32 status, T value) {
  store_relaxed_u64(&states[tile], state_word(status, value));
}

// Publishes another tile's aggregate, unless that tile has published more by now.
void state_help(__global StateWord *states, u32 tiles, u32 tile, T aggregate) {
  atomic_max_u64(&states[tile], state_word(STATUS_AGGREGATE, aggregate));
}

State state_read(__global StateWord *states, u32 tiles, u32 tile) {
  const u64 word = load_relaxed_u64(&states[tile]);
  Words words;
  words.w[0] = (u32)word;
  State state = {(u32)(word >> 32u), element_from_words(words)};
  return state;
}
