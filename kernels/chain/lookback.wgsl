// chain/lookback: a subgroup finds a tile's exclusive prefix in the states of the tiles before it.

struct Lookback {
  // The combination of the tiles from `next` up to the one that looks back.
  prefix: T,
  next: u32,
  // One more than the tile that has not published in time, or 0.
  stuck: u32,
}

fn lookback(start: Lookback, epoch: u32, lane: u32, width: u32) -> Lookback {
  var found = Lookback(start.prefix, start.next, 0u);
  var polls = 0u;
  loop {
    // Lane i reads the state i tiles before `next`. Before the first tile lies the initial value.
    var state = State(STATUS_PREFIX, params.initial);
    if (lane < found.next) { state = state_read(epoch, found.next - 1u - lane); }
    let nearest_prefix = subgroup_first(state.status == STATUS_PREFIX, width);
    let nearest_none = subgroup_first(state.status == STATUS_NONE, width);
    if (nearest_none < nearest_prefix) {
      polls++;
      if (FALLBACK == 1u && polls >= SPIN_LIMIT) {
        found.stuck = found.next - nearest_none;
        break;
      }
      continue;
    }
    let window = lookback_fold(state.value, min(nearest_prefix, width - 1u), lane);
    found.prefix = combine(window, found.prefix);
    if (nearest_prefix < width) { break; }
    found.next -= width;
    polls = 0u;
  }
  return found;
}
