// sort/count_state: a tile's count of each digit in 32 bits, below two of status and one that tells this epoch of the states from
// the one before. A portion has fewer than 2^29 keys. The words before the first tile's are the ticket.

typedef u32 CountWord;

#define STATE_FIRST 64u

struct CountState {
  u32 status;
  u32 count;
};

// Takes the next ticket of so many. Whoever takes the last one begins the next epoch's, whose states bear another number: nothing
// is cleared in between.
FUNCTION u32 count_ticket(CountWord *states, u32 takes) {
  const u32 taken = atomicAdd(&states[0], 1u);
  if (taken % TICKETS == takes - 1u) { atomicAdd(&states[0], TICKETS - takes); }
  return taken;
}

FUNCTION CountWord count_word(u32 epoch, u32 status, u32 count) {
  return (epoch << 31u) | (status << 29u) | count;
}

FUNCTION CountState count_state(u32 epoch, CountWord word) {
  const CountState state = {word >> 31u == (epoch & 1u) ? (word >> 29u) & 3u : STATUS_NONE, word & 0x1fffffffu};
  return state;
}

FUNCTION void count_publish(CountWord *states, u32 epoch, u32 tile, u32 digit, u32 status, u32 count) {
  store_relaxed(&states[STATE_FIRST + tile * DIGITS + digit], count_word(epoch, status, count));
}

FUNCTION CountState count_read(CountWord *states, u32 epoch, u32 tile, u32 digit) {
  return count_state(epoch, load_relaxed(&states[STATE_FIRST + tile * DIGITS + digit]));
}

// Publishes another tile's count, unless it has been published by now.
FUNCTION void count_help(CountWord *states, u32 epoch, u32 tile, u32 digit, u32 count) {
  CountWord *word = &states[STATE_FIRST + tile * DIGITS + digit];
  const CountWord old = load_relaxed(word);
  if (count_state(epoch, old).status != STATUS_NONE) { return; }
  atomicCAS(word, old, count_word(epoch, STATUS_AGGREGATE, count));
}

// What late tiles of a test pass their time with.
FUNCTION void count_delay(CountWord *states) {
  for (u32 i = 0u; i < 2000u; i++) { atomicAdd(&states[1], 1u); }
}
