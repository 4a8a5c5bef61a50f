// block/count_state: a tile's count of each digit below two status bits in 32 bits. A portion has fewer than 2^30 keys.
// The words before the first tile's are the ticket.

@group(0) @binding(7) var<storage, read_write> states: array<atomic<u32>>;

const STATE_FIRST: u32 = 64u;

struct CountState {
  status: u32,
  count: u32,
}

fn count_ticket() -> u32 {
  return atomicAdd(&states[0], 1u);
}

fn count_word(status: u32, count: u32) -> u32 {
  return (status << 30u) | count;
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
  return CountState(word >> 30u, word & 0x3fffffffu);
}

// What late tiles of a test pass their time with.
fn count_delay() {
  for (var i = 0u; i < 2000u; i++) { atomicAdd(&states[1], 1u); }
}
