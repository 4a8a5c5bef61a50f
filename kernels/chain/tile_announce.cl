// chain/tile_announce: a tile's aggregate, published; and what `chain/tile_prefix` or `chain/tile_chunks`, one of which follows,
// shares in the workgroup.

typedef struct {
  u32 stuck;
  T prefix;
  T subgroup_totals[MAX_SUBGROUPS];
} TileShared;

// What a kernel reads tiles from, which it declares, and the combination of a full tile, by the very combines that its owner makes.
typedef struct TileInput TileInput;
T tile_aggregate(const TileInput *from, u32 tile, Subgroup sg, __local TileShared *shared);

// A tile whose aggregate is known: the subgroups' totals, and whether the tile tells of itself.
typedef struct {
  TileTotals totals;
  bool publishes;
} Announced;

// Combines the subgroups' totals and publishes the tile's aggregate. All invocations call it together, each with its subgroup's
// total.
Announced tile_announce(
  __global StateWord *states, __global u32 *ticket, Params params, u32 epoch, u32 tile, T total, Subgroup sg, __local TileShared *shared
) {
  const Announced announced = {tile_totals(total, sg, shared->subgroup_totals), tile_publishes(ticket, tile)};
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
