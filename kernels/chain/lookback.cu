// chain/lookback: a subgroup finds a tile's exclusive prefix in the states of the tiles before it.

struct Lookback {
  // The combination of the tiles from `next` up to the one that looks back.
  T prefix;
  u32 next;
  // One more than the tile that has not published in time, or 0.
  u32 stuck;
};

FUNCTION Lookback lookback(Lookback start, const StateWord *states, u32 slots, u32 epoch, T initial, Subgroup sg) {
  Lookback found = {start.prefix, start.next, 0u};
  u32 polls = 0u;
  while (true) {
    // Lane i reads the state i tiles before `next`. Before the first tile lies the initial value.
    State state = {STATUS_PREFIX, initial};
    if (sg.lane < found.next) { state = state_read(states, slots, epoch, found.next - 1u - sg.lane); }
    const u32 nearest_prefix = subgroup_first(state.status == STATUS_PREFIX, sg.width);
    const u32 nearest_none = subgroup_first(state.status == STATUS_NONE, sg.width);
    if (nearest_none < nearest_prefix) {
      polls++;
      if (FALLBACK == 1u && polls >= SPIN_LIMIT) {
        found.stuck = found.next - nearest_none;
        break;
      }
      continue;
    }
    const T window = lookback_fold(state.value, min(nearest_prefix, sg.width - 1u), sg.lane);
    found.prefix = combine(window, found.prefix);
    if (nearest_prefix < sg.width) { break; }
    found.next -= sg.width;
    polls = 0u;
  }
  return found;
}
