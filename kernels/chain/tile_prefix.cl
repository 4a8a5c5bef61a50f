// chain/tile_prefix: what lies before a tile, by decoupled look-back (Merrill and Garland 2016) with the fallback of Decoupled Fallback
// (Smith, Levien and Owens 2025): the tile's aggregate is published, then its prefix. The kernel has the aggregate of any other tile.

typedef struct {
  // The combination of the tiles before this one, of this one, and of the subgroups in it before the invocation's own.
  T before;
  T aggregate;
  T subgroups;
} TilePrefix;

// Looks back, and publishes the tile's inclusive prefix. All invocations call it together; returns the exclusive one. If a tile is
// stuck, the whole workgroup computes its aggregate and goes on.
T tile_look_back(
  const TileInput *from, __global StateWord *states, Params params, u32 epoch, u32 tile, T aggregate, bool publishes, Subgroup sg, __local TileShared *shared
) {
  const bool leads = sg.id == 0u && sg.lane == 0u;
  Lookback found = {identity(), tile, 0u};
  while (true) {
    if (LEADING_SUBGROUP(sg)) {
      found = lookback(found, states, params.slots, epoch, params.initial, sg);
      if (leads) {
        shared->prefix = found.prefix;
        shared->stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared->stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(from, stuck - 1u, sg, shared);
    if (leads) { state_help(states, params.slots, epoch, stuck - 1u, missing); }
    workgroup_barrier();
  }
  const T prefix = shared->prefix;
  if (leads && publishes) { state_publish(states, params.slots, epoch, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  return prefix;
}

// The one after the other.
TilePrefix tile_prefix(
  const TileInput *from, __global StateWord *states, __global u32 *ticket, Params params, u32 epoch, u32 tile, T total,
  Subgroup sg, __local TileShared *shared
) {
  const Announced announced = tile_announce(states, ticket, params, epoch, tile, total, sg, shared);
  const T all = announced.totals.all;
  const T before = tile_look_back(from, states, params, epoch, tile, all, announced.publishes, sg, shared);
  const TilePrefix result = {before, all, announced.totals.before};
  return result;
}
