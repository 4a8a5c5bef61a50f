// block/count_state: a tile's count of each digit below two status bits in 32 bits. A portion has fewer than 2^30 keys.
// The words before the first tile's are the ticket.

typedef u32 CountWord;

#define STATE_FIRST 64u

typedef struct {
  u32 status;
  u32 count;
} CountState;

u32 count_ticket(__global CountWord *states) {
  return atomic_add_u32(&states[0], 1u);
}

CountWord count_word(u32 status, u32 count) {
  return (status << 30u) | count;
}

void count_publish(__global CountWord *states, u32 tile, u32 digit, u32 status, u32 count) {
  store_relaxed_u32(&states[STATE_FIRST + tile * DIGITS + digit], count_word(status, count));
}

// Publishes another tile's count, unless that tile has published more by now.
void count_help(__global CountWord *states, u32 tile, u32 digit, u32 count) {
  atomic_max_u32(&states[STATE_FIRST + tile * DIGITS + digit], count_word(STATUS_AGGREGATE, count));
}

CountState count_read(__global CountWord *states, u32 tile, u32 digit) {
  const CountWord word = load_relaxed_u32(&states[STATE_FIRST + tile * DIGITS + digit]);
  const CountState state = {word >> 30u, word & 0x3fffffffu};
  return state;
}

// What late tiles of a test pass their time with.
void count_delay(__global CountWord *states) {
  for (u32 i = 0u; i < 2000u; i++) { atomic_add_u32(&states[1], 1u); }
}
