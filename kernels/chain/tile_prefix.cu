// chain/tile_prefix: what lies before a tile, by decoupled look-back (Merrill and Garland 2016) with the fallback of Decoupled Fallback
// (Smith, Levien and Owens 2025): the tile's aggregate is published, then its prefix. The kernel has the aggregate of any other tile.

struct TilePrefix {
  // The combination of the tiles before this one, of this one, and of the subgroups in it before the invocation's own.
  T before;
  T aggregate;
  T subgroups;
};

// Looks back, and publishes the tile's inclusive prefix. All invocations call it together; returns the exclusive one. If a tile is
// stuck, the whole workgroup computes its aggregate and goes on.
FUNCTION T tile_look_back(
  const TileInput &from, StateWord *states, const Params &params, u32 epoch, u32 tile, T aggregate, bool publishes, Subgroup sg
) {
  const bool leads = sg.id == 0u && sg.lane == 0u;
  Lookback found = {identity(), tile, 0u};
  while (true) {
    if (sg.id == 0u) {
      found = lookback(found, states, params.slots, epoch, params.initial, sg);
      if (sg.lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared_stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(from, stuck - 1u, sg);
    if (leads) { state_help(states, params.slots, epoch, stuck - 1u, missing); }
    workgroup_barrier();
  }
  const T prefix = shared_prefix;
  if (leads && publishes) { state_publish(states, params.slots, epoch, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  return prefix;
}

// The one after the other.
FUNCTION TilePrefix tile_prefix(
  const TileInput &from, StateWord *states, u32 *ticket, const Params &params, u32 epoch, u32 tile, T total,
  Subgroup sg
) {
  const Announced announced = tile_announce(states, ticket, params, epoch, tile, total, sg);
  const T all = announced.totals.all;
  const T before = tile_look_back(from, states, params, epoch, tile, all, announced.publishes, sg);
  return {before, all, announced.totals.before};
}
