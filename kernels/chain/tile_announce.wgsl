// chain/tile_announce: a tile's aggregate, published; and what `chain/tile_prefix` or `chain/tile_chunks`, one of which follows,
// shares in the workgroup.

var<workgroup> shared_stuck: u32;
var<workgroup> shared_prefix: T;

// A tile whose aggregate is known: the subgroups' totals, and whether the tile tells of itself.
struct Announced {
  totals: TileTotals,
  publishes: bool,
}

// Combines the subgroups' totals and publishes the tile's aggregate. All invocations call it together, each with its subgroup's
// total.
fn tile_announce(epoch: u32, tile: u32, total: T, lane: u32, subgroup: u32, subgroups: u32) -> Announced {
  let announced = Announced(tile_totals(total, lane, subgroup, subgroups), tile_publishes(tile));
  let aggregate = announced.totals.all;
  let status = select(STATUS_NONE, STATUS_AGGREGATE, announced.publishes);
  if (subgroup == 0u && lane == 0u) {
    var told = false;
    // with CLOSES
    let closes = announced.publishes && tile_closes(aggregate);
    // with CLOSES
    if (closes) { state_publish(epoch, tile, STATUS_PREFIX, aggregate); }
    // In one word, the prefix takes the aggregate's place. In words apart both are written: an aggregate that is left from 256 runs ago bears the
    // same epoch, and would pass for this run's.
    // with CLOSES
    told = closes && PREFIX_APART == 0u;
    if (!told) { state_publish(epoch, tile, status, aggregate); }
  }
  return announced;
}
