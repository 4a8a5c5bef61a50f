// sort/count_state: a tile's count of each digit in 32 bits, below two of status and one that tells this epoch of the states from
// the one before. A portion has fewer than 2^29 keys. The words before the first tile's are the ticket.

typedef u32 CountWord;

#define STATE_FIRST 64u

typedef struct {
  u32 status;
  u32 count;
} CountState;

// Takes the next ticket of so many. Whoever takes the last one begins the next epoch's, whose states bear another number: nothing
// is cleared in between.
u32 count_ticket(__global CountWord *states, u32 takes) {
  const u32 taken = atomic_add_u32(&states[0], 1u);
  if (taken % TICKETS == takes - 1u) { atomic_add_u32(&states[0], TICKETS - takes); }
  return taken;
}

CountWord count_word(u32 epoch, u32 status, u32 count) {
  return (epoch << 31u) | (status << 29u) | count;
}

CountState count_state(u32 epoch, CountWord word) {
  const CountState state = {word >> 31u == (epoch & 1u) ? (word >> 29u) & 3u : STATUS_NONE, word & 0x1fffffffu};
  return state;
}

void count_publish(__global CountWord *states, u32 epoch, u32 tile, u32 digit, u32 status, u32 count) {
  store_relaxed_u32(&states[STATE_FIRST + tile * DIGITS + digit], count_word(epoch, status, count));
}

CountState count_read(__global CountWord *states, u32 epoch, u32 tile, u32 digit) {
  return count_state(epoch, load_relaxed_u32(&states[STATE_FIRST + tile * DIGITS + digit]));
}

// Publishes another tile's count, unless it has been published by now.
void count_help(__global CountWord *states, u32 epoch, u32 tile, u32 digit, u32 count) {
  __global CountWord *word = &states[STATE_FIRST + tile * DIGITS + digit];
  const CountWord old = load_relaxed_u32(word);
  if (count_state(epoch, old).status != STATUS_NONE) { return; }
  atomic_replace_u32(word, old, count_word(epoch, STATUS_AGGREGATE, count));
}

// What late tiles of a test pass their time with.
void count_delay(__global CountWord *states) {
  for (u32 i = 0u; i < 2000u; i++) { atomic_add_u32(&states[1], 1u); }
}
