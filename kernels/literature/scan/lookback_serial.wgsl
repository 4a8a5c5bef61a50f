// literature/scan/lookback_serial: one thread finds a tile's exclusive prefix in the states of the tiles before it, one after the other. If
// CHAINED it waits for the prefix of the tile before it, and only where that does not come in time takes the tile's aggregate
// instead, and waits for the next one's prefix.

struct Lookback {
  // The combination of the tiles from `next` up to the one that looks back.
  prefix: T,
  next: u32,
  // One more than the tile that has not published in time, or 0.
  stuck: u32,
}

fn lookback(start: Lookback, epoch: u32, lane: u32, width: u32) -> Lookback {
  var found = Lookback(start.prefix, start.next, 0u);
  var polls = select(0u, SPIN_LIMIT, start.stuck > 0u);
  loop {
    if (lane > 0u) { break; }
    // Before the first tile lies the initial value.
    if (found.next == 0u) {
      found.prefix = combine(params.initial, found.prefix);
      break;
    }
    let state = state_read(epoch, found.next - 1u);
    let taken = state.status == STATUS_PREFIX || CHAINED == 0u || polls >= SPIN_LIMIT;
    if (state.status != STATUS_NONE && taken) {
      found.prefix = combine(state.value, found.prefix);
      found.next -= 1u;
      polls = 0u;
      if (state.status == STATUS_PREFIX) { break; }
      continue;
    }
    polls++;
    if (FALLBACK == 1u && polls >= SPIN_LIMIT && state.status == STATUS_NONE) {
      found.stuck = found.next;
      break;
    }
  }
  return found;
}
