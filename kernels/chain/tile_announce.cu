// chain/tile_announce: a tile's aggregate, published; and what `chain/tile_prefix` or `chain/tile_chunks`, one of which follows,
// shares in the workgroup.

__shared__ u32 shared_stuck;
__shared__ T shared_prefix;

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
  StateWord *states, u32 *ticket, const Params &params, u32 epoch, u32 tile, T total, Subgroup sg
) {
  const Announced announced = {tile_totals(total, sg), tile_publishes(ticket, tile)};
  const T aggregate = announced.totals.all;
  const u32 status = announced.publishes ? STATUS_AGGREGATE : STATUS_NONE;
  if (sg.id == 0u && sg.lane == 0u) {
    bool told = false;
    // with CLOSES
    const bool closes = announced.publishes && tile_closes(aggregate);
    // with CLOSES
    if (closes) { state_publish(states, params.slots, epoch, tile, STATUS_PREFIX, aggregate); }
    // In one word, the prefix takes the aggregate's place. In words apart both are written: an aggregate that is left from 256 runs ago bears the
    // same epoch, and would pass for this run's.
    // with CLOSES
    told = closes && PREFIX_APART == 0u;
    if (!told) { state_publish(states, params.slots, epoch, tile, status, aggregate); }
  }
  return announced;
}
