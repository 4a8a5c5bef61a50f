// block/count_state: a tile's count of each digit below two status bits in 32 bits. A portion has fewer than 2^30 keys.
// The words before the first tile's are the ticket.

typedef u32 CountWord;

#define STATE_FIRST 64u

struct CountState {
  u32 status;
  u32 count;
};

FUNCTION u32 count_ticket(CountWord *states) {
  return atomicAdd(&states[0], 1u);
}

FUNCTION CountWord count_word(u32 status, u32 count) {
  return (status << 30u) | count;
}

FUNCTION void count_publish(CountWord *states, u32 tile, u32 digit, u32 status, u32 count) {
  store_relaxed(&states[STATE_FIRST + tile * DIGITS + digit], count_word(status, count));
}

// Publishes another tile's count, unless that tile has published more by now.
FUNCTION void count_help(CountWord *states, u32 tile, u32 digit, u32 count) {
  atomicMax(&states[STATE_FIRST + tile * DIGITS + digit], count_word(STATUS_AGGREGATE, count));
}

FUNCTION CountState count_read(CountWord *states, u32 tile, u32 digit) {
  const CountWord word = load_relaxed(&states[STATE_FIRST + tile * DIGITS + digit]);
  const CountState state = {word >> 30u, word & 0x3fffffffu};
  return state;
}

// What late tiles of a test pass their time with.
FUNCTION void count_delay(CountWord *states) {
  for (u32 i = 0u; i < 2000u; i++) { atomicAdd(&states[1], 1u); }
}
