// chain/tile_chunks: what lies before a tile, by look-back in chunks of a subgroup's width that begin at its multiples: prefixes are
// known at chunks' ends alone, and each is the one before it and a whole chunk. So what is combined does not depend on which tiles
// come first, and a float's bits are the same every run. (A late owner's aggregate may replace such a prefix: whoever comes then combines
// it again, to the same bits.)

struct Lookback {
  // Whether it is known what lies before the tile `next`, and what does.
  known: bool,
  next: u32,
  prefix: T,
  // One more than the tile that has not published in time, or 0.
  stuck: u32,
}

// A subgroup looks back from a tile, and publishes the prefix of the chunk before the tile's own if it had to combine that. All that is
// branched on is voted on, and nothing else is conditional: so compilers keep the subgroup together and the loads under way.
fn lookback(start: Lookback, epoch: u32, tile: u32, publishes: bool, lane: u32, width: u32) -> Lookback {
  let own = tile / width;
  var found = Lookback(start.known, start.next, start.prefix, 0u);
  var first = select(own + 1u - min(CHUNKS, own + 1u), found.next / width, found.known);
  loop {
    // 1. The states of several chunks are on their way at a time.
    var chunks: array<State, CHUNKS>;
    // unroll
    for (var k = 0u; k < CHUNKS; k++) { chunks[k] = state_read(epoch, min((first + k) * width + lane, tile)); }

    // 2. Fold each. The last of a chunk's tiles may know what lies up to its end.
    var folds: array<State, CHUNKS>;
    // unroll
    for (var k = 0u; k < CHUNKS; k++) {
      let begin = (first + k) * width;
      if (begin + lane >= tile) { chunks[k] = State(STATUS_AGGREGATE, identity()); }
      let last = min(max(tile, begin + 1u) - begin, width) - 1u;
      let is_prefix = subgroup_first(chunks[k].status == STATUS_PREFIX, width) < width;
      let is_whole = subgroup_first(chunks[k].status == STATUS_NONE, width) == width;
      // What is not published is no element, and the operator never sees it.
      var value = identity();
      if (chunks[k].status != STATUS_NONE) { value = chunks[k].value; }
      value = subgroup_inclusive_scan(value, lane);
      if (is_prefix) { value = chunks[k].value; }
      folds[k].status = select(select(STATUS_NONE, STATUS_AGGREGATE, is_whole), STATUS_PREFIX, is_prefix);
      folds[k].value = subgroup_shuffle_element(value, last);
    }
    let missing = first * width + subgroup_first(chunks[0].status == STATUS_NONE, width);

    // 3. Go on from what is known. Before the first tile lies the initial value.
    if (first == 0u && !found.known) {
      found.known = true;
      found.prefix = params.initial;
    }
    let before = found.next;
    var chunk_end = identity();
    var tells = false;
    // unroll
    for (var k = 0u; k < CHUNKS; k++) {
      let begin = (first + k) * width;
      if (folds[k].status == STATUS_PREFIX) {
        found.known = true;
        found.next = begin + width;
        found.prefix = folds[k].value;
      } else if (folds[k].status == STATUS_AGGREGATE && found.known && found.next == begin && begin < tile) {
        found.next = min(begin + width, tile);
        found.prefix = combine(found.prefix, folds[k].value);
        if (found.next == own * width) {
          chunk_end = found.prefix;
          tells = publishes;
        }
      }
    }
    if (tells && lane == 0u) { state_publish(epoch, own * width - 1u, STATUS_PREFIX, chunk_end); }

    // 4. Look further back as long as nothing is known; else go on, if need be when what is missing is there.
    let is_done = found.known && found.next == tile;
    var waits = found.known && found.next == before && !is_done;
    var polls = 0u;
    while (subgroup_first(waits, width) == 0u) {
      polls++;
      if (FALLBACK == 1u && polls >= SPIN_LIMIT) { found.stuck = missing + 1u; }
      waits = found.stuck == 0u && state_read(epoch, missing).status == STATUS_NONE;
    }
    first = select(first - min(CHUNKS, first), found.next / width, found.known);
    continuing {
      break if subgroup_first(is_done || found.stuck > 0u, width) == 0u;
    }
  }
  return found;
}

// Looks back. All invocations call it together. If a tile is stuck, the whole workgroup computes its aggregate and goes on:
// `tile_aggregate` of a kernel is the combination of a full tile, by the very combines that its owner makes. The tile's own aggregate
// is part of no prefix that it publishes; `chain/tile_prefix`, which may stand for this block, needs it.
fn tile_look_back(
  epoch: u32, tile: u32, aggregate: T, publishes: bool, lane: u32, width: u32, subgroup: u32, subgroups: u32
) -> T {
  var found = Lookback(false, 0u, identity(), 0u);
  loop {
    if (subgroup == 0u) {
      found = lookback(found, epoch, tile, publishes, lane, width);
      if (lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    let stuck = workgroupUniformLoad(&shared_stuck);
    if (stuck == 0u) { break; }
    let missing = tile_aggregate(stuck - 1u, lane, width, subgroup, subgroups);
    if (subgroup == 0u && lane == 0u) { state_help(epoch, stuck - 1u, missing); }
    workgroupBarrier();
  }
  return shared_prefix;
}
