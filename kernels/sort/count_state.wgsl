// sort/count_state: a tile's count of each digit in 32 bits, below two of status and one that tells this epoch of the states from
// the one before. A portion has fewer than 2^29 keys. The words before the first tile's are the ticket.

alias CountWord = u32;

const STATE_FIRST: u32 = 64u;

struct CountState {
  status: u32,
  count: u32,
}

// Takes the next ticket of so many. Whoever takes the last one begins the next epoch's, whose states bear another number: nothing
// is cleared in between.
fn count_ticket(takes: u32) -> u32 {
  let taken = atomicAdd(&states[0], 1u);
  if (taken % TICKETS == takes - 1u) { atomicAdd(&states[0], TICKETS - takes); }
  return taken;
}

fn count_word(epoch: u32, status: u32, count: u32) -> u32 {
  return (epoch << 31u) | (status << 29u) | count;
}

fn count_state(epoch: u32, word: u32) -> CountState {
  return CountState(select(STATUS_NONE, (word >> 29u) & 3u, (word >> 31u) == (epoch & 1u)), word & 0x1fffffffu);
}

fn count_publish(epoch: u32, tile: u32, digit: u32, status: u32, count: u32) {
  atomicStore(&states[STATE_FIRST + tile * DIGITS + digit], count_word(epoch, status, count));
}

fn count_read(epoch: u32, tile: u32, digit: u32) -> CountState {
  return count_state(epoch, atomicLoad(&states[STATE_FIRST + tile * DIGITS + digit]));
}

// Publishes another tile's count, unless it has been published by now.
fn count_help(epoch: u32, tile: u32, digit: u32, count: u32) {
  let at = STATE_FIRST + tile * DIGITS + digit;
  let old = atomicLoad(&states[at]);
  if (count_state(epoch, old).status != STATUS_NONE) { return; }
  atomicCompareExchangeWeak(&states[at], old, count_word(epoch, STATUS_AGGREGATE, count));
}

// What late tiles of a test pass their time with.
fn count_delay() {
  for (var i = 0u; i < 2000u; i++) { atomicAdd(&states[1], 1u); }
}
