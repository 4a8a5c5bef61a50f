// chain/lookback_windows: as chain/lookback, but each lane reads WINDOWS states of 64 bits at once: where those are all tiles before
// one, they cost one trip to memory and not several. In WGSL, and with states of 128 bits, it is slower than the trips that it saves
// (docs/notebook.md).

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
    // Lane i reads the state i tiles before the nearest window's first, and so in those behind it: words alone, since the compiler
    // would wait for each that it takes apart. Before the first tile lies the initial value.
    StateWord words[WINDOWS];
#pragma unroll
    for (u32 w = 0u; w < WINDOWS; w++) {
      const u32 back = w * sg.width + sg.lane;
      words[w] = state_word(epoch, STATUS_PREFIX, initial);
      if (back < found.next) { words[w] = load_relaxed(&states[found.next - 1u - back]); }
    }
    // Combine windows, the nearest first, as far as their tiles have published.
#pragma unroll
    for (u32 w = 0u; w < WINDOWS; w++) {
      const State state = state_of(epoch, words[w]);
      const u32 nearest_prefix = subgroup_first(state.status == STATUS_PREFIX, sg.width);
      const u32 nearest_none = subgroup_first(state.status == STATUS_NONE, sg.width);
      if (nearest_none < nearest_prefix) {
        polls++;
        if (FALLBACK == 1u && polls >= SPIN_LIMIT) {
          found.stuck = found.next - nearest_none;
          return found;
        }
        break;
      }
      const T folded = lookback_fold(state.value, min(nearest_prefix, sg.width - 1u), sg.lane);
      found.prefix = combine(folded, found.prefix);
      if (nearest_prefix < sg.width) { return found; }
      found.next -= sg.width;
      polls = 0u;
    }
  }
}
