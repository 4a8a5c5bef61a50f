// block/count_state64: a tile's count of each digit: counts of 32 bits below the status in 64-bit words.
// The words before the first tile's are the ticket.

@group(0) @binding(7) var<storage, read_write> states: array<atomic<u64>>;

const STATE_FIRST: u32 = 64u;

struct CountState {
  status: u32,
  count: u32,
}

fn count_ticket() -> u32 {
  return u32(atomicAdd(&states[0], 1lu));
}

fn count_word(status: u32, count: u32) -> u64 {
  return (u64(status) << 32u) | u64(count);
}

fn count_publish(tile: u32, digit: u32, status: u32, count: u32) {
  atomicStore(&states[STATE_FIRST + tile * DIGITS + digit], count_word(status, count));
}

// Publishes another tile's count, unless that tile has published more by now.
fn count_help(tile: u32, digit: u32, count: u32) {
  atomicMax(&states[STATE_FIRST + tile * DIGITS + digit], count_word(STATUS_AGGREGATE, count));
}

fn count_read(tile: u32, digit: u32) -> CountState {
  let word = atomicLoad(&states[STATE_FIRST + tile * DIGITS + digit]);
  return CountState(u32(word >> 32u), u32(word & 0xfffffffflu));
}

// What late tiles of a test pass their time with.
fn count_delay() {
  for (var i = 0u; i < 2000u; i++) { atomicAdd(&states[1], 1lu); }
}
