// block/tile_prefix: what lies before a tile, by decoupled look-back (Merrill and Garland 2016) with the fallback of Decoupled Fallback
// (Smith, Levien and Owens 2025): the tile's aggregate is published, then its prefix. The kernel has the aggregate of any other tile.

__shared__ u32 shared_stuck;
__shared__ T shared_prefix;

struct TilePrefix {
  // The combination of the tiles before this one, of this one, and of the subgroups in it before the invocation's own.
  T before;
  T aggregate;
  T subgroups;
};

// What a kernel reads tiles from, which it declares, and the combination of a full tile, by the very combines that its owner makes.
struct TileInput;
FUNCTION T tile_aggregate(const TileInput &from, u32 tile, Subgroup sg);

// A tile whose aggregate is known: the subgroups' totals, and whether the tile tells of itself.
struct Announced {
  TileTotals totals;
  bool publishes;
};

// Combines the subgroups' totals and publishes the tile's aggregate. All invocations call it together, each with its subgroup's
// total.
FUNCTION Announced tile_announce(
  StateWord *states, u32 *ticket, const Params &params, u32 run, u32 tile, T total, Subgroup sg
) {
  const Announced announced = {tile_totals(total, sg), tile_publishes(ticket, tile)};
  const u32 status = announced.publishes ? STATUS_AGGREGATE : STATUS_NONE;
  if (sg.id == 0u && sg.lane == 0u) { state_publish(states, params.tiles, run, tile, status, announced.totals.all); }
  return announced;
}

// Looks back, and publishes the tile's inclusive prefix. All invocations call it together; returns the exclusive one. If a tile is
// stuck, the whole workgroup computes its aggregate and goes on.
FUNCTION T tile_look_back(
  const TileInput &from, StateWord *states, const Params &params, u32 run, u32 tile, T aggregate, bool publishes, Subgroup sg
) {
  const bool leads = sg.id == 0u && sg.lane == 0u;
  Lookback found = {identity(), tile, 0u};
  while (true) {
    if (sg.id == 0u) {
      found = lookback(found, states, params.tiles, run, params.initial, sg);
      if (sg.lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared_stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(from, stuck - 1u, sg);
    if (leads) { state_help(states, params.tiles, run, stuck - 1u, missing); }
    workgroup_barrier();
  }
  const T prefix = shared_prefix;
  if (leads && publishes) { state_publish(states, params.tiles, run, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  return prefix;
}

// The one after the other.
FUNCTION TilePrefix tile_prefix(
  const TileInput &from, StateWord *states, u32 *ticket, const Params &params, u32 run, u32 tile, T total,
  Subgroup sg
) {
  const Announced announced = tile_announce(states, ticket, params, run, tile, total, sg);
  const T all = announced.totals.all;
  const T before = tile_look_back(from, states, params, run, tile, all, announced.publishes, sg);
  return {before, all, announced.totals.before};
}
