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
  var status = select(STATUS_NONE, STATUS_AGGREGATE, announced.publishes);
  // with CLOSES
  if (announced.publishes && tile_closes(announced.totals.all)) { status = STATUS_PREFIX; }
  if (subgroup == 0u && lane == 0u) { state_publish(epoch, tile, status, announced.totals.all); }
  return announced;
}
