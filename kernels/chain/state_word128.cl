// chain/state_word128: a tile's state in one 128-bit word, the epoch and the status above a value of 64 bits. One relaxed
// access moves all, so nothing has to be ordered. In CUDA C and, by inline PTX, in NVIDIA's OpenCL, from sm_90 on: WGSL has no
// atomics on 128 bits.

typedef struct __attribute__((aligned(16))) {
  u64 value;
  u64 tag;
} StateWord;

typedef struct {
  u32 status;
  T value;
} State;

StateWord state_word(u32 epoch, u32 status, T value) {
  const Words words = element_to_words(value);
  const StateWord word = {(u64)words.w[1] << 32u | words.w[0], (u64)(epoch << 2u | status)};
  return word;
}

// What a word says in this epoch: one of another epoch says nothing.
u32 state_status(u32 epoch, StateWord word) {
  const u32 tag = (u32)word.tag;
  return tag >> 2u == epoch ? tag & 3u : STATUS_NONE;
}

StateWord state_load(__global const StateWord *word) {
  StateWord loaded;
  asm volatile("{ .reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w; }"
               : "=l"(loaded.value), "=l"(loaded.tag) : "l"(word) : "memory");
  return loaded;
}

void state_publish(__global StateWord *states, u32 slots, u32 epoch, u32 tile, u32 status, T value) {
  const StateWord word = state_word(epoch, status, value);
  asm volatile("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w; }"
               : : "l"(&states[tile]), "l"(word.value), "l"(word.tag) : "memory");
}

// Says of a tile that a run has none of it, so that no later epoch takes an older word for its own.
void state_blank(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  state_publish(states, slots, epoch, tile, STATUS_NONE, identity());
}

// Publishes another tile's aggregate, unless it has been published by now.
void state_help(__global StateWord *states, u32 slots, u32 epoch, u32 tile, T aggregate) {
  const StateWord old = state_load(&states[tile]);
  if (state_status(epoch, old) != STATUS_NONE) { return; }
  const StateWord word = state_word(epoch, STATUS_AGGREGATE, aggregate);
  asm volatile("{ .reg .b128 was, now, found; mov.b128 was, {%1, %2}; mov.b128 now, {%3, %4};"
               "  atom.relaxed.gpu.global.cas.b128 found, [%0], was, now; }"
               : : "l"(&states[tile]), "l"(old.value), "l"(old.tag), "l"(word.value), "l"(word.tag) : "memory");
}

State state_read(__global StateWord *states, u32 slots, u32 epoch, u32 tile) {
  const StateWord word = state_load(&states[tile]);
  Words words;
  words.w[0] = (u32)word.value;
  words.w[1] = (u32)(word.value >> 32u);
  State state = {state_status(epoch, word), element_from_words(words)};
  return state;
}
