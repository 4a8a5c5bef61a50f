// block/count_state64: a tile's count of each digit: counts of 32 bits below the status in 64-bit words.
// The words before the first tile's are the ticket.

typedef u64 CountWord;

#define STATE_FIRST 64u

typedef struct {
  u32 status;
  u32 count;
} CountState;

u32 count_ticket(__global CountWord *states) {
  return (u32)atomic_add_u64(&states[0], 1ul);
}

CountWord count_word(u32 status, u32 count) {
  return ((u64)status << 32u) | count;
}

void count_publish(__global CountWord *states, u32 tile, u32 digit, u32 status, u32 count) {
  store_relaxed_u64(&states[STATE_FIRST + tile * DIGITS + digit], count_word(status, count));
}

// Publishes another tile's count, unless that tile has published more by now.
void count_help(__global CountWord *states, u32 tile, u32 digit, u32 count) {
  atomic_max_u64(&states[STATE_FIRST + tile * DIGITS + digit], count_word(STATUS_AGGREGATE, count));
}

CountState count_read(__global CountWord *states, u32 tile, u32 digit) {
  const CountWord word = load_relaxed_u64(&states[STATE_FIRST + tile * DIGITS + digit]);
  const CountState state = {(u32)(word >> 32u), (u32)word};
  return state;
}

// What late tiles of a test pass their time with.
void count_delay(__global CountWord *states) {
  for (u32 i = 0u; i < 2000u; i++) { atomic_add_u64(&states[1], 1ul); }
}
