// block/lookback_chained: a tile's exclusive prefix is the inclusive one of the tile before it, and one thread waits for that. Only
// where it does not come in time the tile's aggregate is taken instead, and the next one's prefix waited for.

typedef struct {
  // The combination of the tiles from `next` up to the one that looks back.
  T prefix;
  u32 next;
  // One more than the tile that has not published in time, or 0.
  u32 stuck;
} Lookback;

Lookback lookback(Lookback start, __global StateWord *states, u32 tiles, u32 run, T initial, Subgroup sg) {
  Lookback found = {start.prefix, start.next, 0u};
  u32 polls = start.stuck > 0u ? SPIN_LIMIT : 0u;
  while (sg.id == 0u && sg.lane == 0u) {
    // Before the first tile lies the initial value.
    if (found.next == 0u) {
      found.prefix = combine(initial, found.prefix);
      break;
    }
    const State state = state_read(states, tiles, run, found.next - 1u);
    if (state.status == STATUS_PREFIX || (state.status != STATUS_NONE && polls >= SPIN_LIMIT)) {
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
