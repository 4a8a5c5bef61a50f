// literature/scan/lookback_serial: one thread finds a tile's exclusive prefix in the states of the tiles before it, one after the other. If
// CHAINED it waits for the prefix of the tile before it, and only where that does not come in time takes the tile's aggregate
// instead, and waits for the next one's prefix.

struct Lookback {
  // The combination of the tiles from `next` up to the one that looks back.
  T prefix;
  u32 next;
  // One more than the tile that has not published in time, or 0.
  u32 stuck;
};

FUNCTION Lookback lookback(Lookback start, const StateWord *states, u32 slots, u32 epoch, T initial, Subgroup sg) {
  Lookback found = {start.prefix, start.next, 0u};
  u32 polls = start.stuck > 0u ? SPIN_LIMIT : 0u;
  while (sg.id == 0u && sg.lane == 0u) {
    // Before the first tile lies the initial value.
    if (found.next == 0u) {
      found.prefix = combine(initial, found.prefix);
      break;
    }
    const State state = state_read(states, slots, epoch, found.next - 1u);
    const bool taken = state.status == STATUS_PREFIX || CHAINED == 0u || polls >= SPIN_LIMIT;
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
