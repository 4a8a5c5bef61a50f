// chain/tile_chunks: what lies before a tile, by look-back in chunks of a subgroup's width that begin at its multiples: prefixes are
// known at chunks' ends alone, and each is the one before it and a whole chunk. So what is combined does not depend on which tiles
// come first, and a float's bits are the same every run. (A late owner's aggregate may replace such a prefix: whoever comes then combines
// it again, to the same bits.) It is not planned for emulated subgroups, which all have to take part.

typedef struct {
  // Whether it is known what lies before the tile `next`, and what does.
  bool known;
  u32 next;
  T prefix;
  // One more than the tile that has not published in time, or 0.
  u32 stuck;
} Lookback;

// A subgroup looks back from a tile, and publishes the prefix of the chunk before the tile's own if it had to combine that. All that is
// branched on is voted on, and nothing else is conditional: so compilers keep the subgroup together and the loads under way.
Lookback lookback(
  Lookback start, __global StateWord *states, u32 slots, u32 epoch, u32 tile, bool publishes, T initial, Subgroup sg
) {
  const u32 own = tile / sg.width;
  Lookback found = {start.known, start.next, start.prefix, 0u};
  u32 first = found.known ? found.next / sg.width : own + 1u - min(CHUNKS, own + 1u);
  bool is_done = false;
  do {
    // 1. The states of several chunks are on their way at a time.
    State chunks[CHUNKS];
#pragma unroll
    for (u32 k = 0u; k < CHUNKS; k++) {
      chunks[k] = state_read(states, slots, epoch, min((first + k) * sg.width + sg.lane, tile));
    }

    // 2. Fold each. The last of a chunk's tiles may know what lies up to its end.
    State folds[CHUNKS];
#pragma unroll
    for (u32 k = 0u; k < CHUNKS; k++) {
      const u32 begin = (first + k) * sg.width;
      if (begin + sg.lane >= tile) {
        chunks[k].status = STATUS_AGGREGATE;
        chunks[k].value = identity();
      }
      const u32 last = min(max(tile, begin + 1u) - begin, sg.width) - 1u;
      const bool is_prefix = subgroup_first(sg, chunks[k].status == STATUS_PREFIX) < sg.width;
      const bool is_whole = subgroup_first(sg, chunks[k].status == STATUS_NONE) == sg.width;
      // What is not published is no element, and the operator never sees it.
      const T value = chunks[k].status != STATUS_NONE ? chunks[k].value : identity();
      const T inclusive = subgroup_inclusive_scan(sg, value);
      folds[k].status = is_prefix ? STATUS_PREFIX : is_whole ? STATUS_AGGREGATE : STATUS_NONE;
      folds[k].value = subgroup_shuffle_element(sg, is_prefix ? chunks[k].value : inclusive, last);
    }
    const u32 missing = first * sg.width + subgroup_first(sg, chunks[0].status == STATUS_NONE);

    // 3. Go on from what is known. Before the first tile lies the initial value.
    if (first == 0u && !found.known) {
      found.known = true;
      found.prefix = initial;
    }
    const u32 before = found.next;
    T chunk_end = identity();
    bool tells = false;
#pragma unroll
    for (u32 k = 0u; k < CHUNKS; k++) {
      const u32 begin = (first + k) * sg.width;
      if (folds[k].status == STATUS_PREFIX) {
        found.known = true;
        found.next = begin + sg.width;
        found.prefix = folds[k].value;
      } else if (folds[k].status == STATUS_AGGREGATE && found.known && found.next == begin && begin < tile) {
        found.next = min(begin + sg.width, tile);
        found.prefix = combine(found.prefix, folds[k].value);
        if (found.next == own * sg.width) {
          chunk_end = found.prefix;
          tells = publishes;
        }
      }
    }
    if (tells && sg.lane == 0u) { state_publish(states, slots, epoch, own * sg.width - 1u, STATUS_PREFIX, chunk_end); }

    // 4. Look further back as long as nothing is known; else go on, if need be when what is missing is there.
    is_done = found.known && found.next == tile;
    bool waits = found.known && found.next == before && !is_done;
    u32 polls = 0u;
    while (subgroup_first(sg, waits) == 0u) {
      polls++;
      if (FALLBACK == 1u && polls >= SPIN_LIMIT) { found.stuck = missing + 1u; }
      waits = found.stuck == 0u && state_read(states, slots, epoch, missing).status == STATUS_NONE;
    }
    first = found.known ? found.next / sg.width : first - min(CHUNKS, first);
  } while (subgroup_first(sg, is_done || found.stuck > 0u) > 0u);
  return found;
}

// Looks back. All invocations call it together. If a tile is stuck, the whole workgroup computes its aggregate and goes on. The tile's
// own aggregate is part of no prefix that it publishes; `chain/tile_prefix`, which may stand for this block, needs it.
T tile_look_back(
  const TileInput *from, __global StateWord *states, Params params, u32 epoch, u32 tile, T aggregate, bool publishes, Subgroup sg,
  __local TileShared *shared
) {
  Lookback found = {false, 0u, identity(), 0u};
  while (true) {
    if (sg.id == 0u) {
      found = lookback(found, states, params.slots, epoch, tile, publishes, params.initial, sg);
      if (sg.lane == 0u) {
        shared->prefix = found.prefix;
        shared->stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared->stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(from, stuck - 1u, sg, shared);
    if (sg.id == 0u && sg.lane == 0u) { state_help(states, params.slots, epoch, stuck - 1u, missing); }
    workgroup_barrier();
  }
  return shared->prefix;
}
