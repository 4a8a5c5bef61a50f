// block/tile_prefix: what lies before a tile, by decoupled look-back (Merrill and Garland 2016) with the fallback of Decoupled Fallback
// (Smith, Levien and Owens 2025): the tile's aggregate is published, then its prefix. The kernel has the aggregate of any other tile.

var<workgroup> shared_stuck: u32;
var<workgroup> shared_prefix: T;

struct TilePrefix {
  // The combination of the tiles before this one, of this one, and of the subgroups in it before the invocation's own.
  before: T,
  aggregate: T,
  subgroups: T,
}

// All invocations call it together, each with its subgroup's total. `tile_aggregate` of a kernel is the combination of a full
// tile, by the very combines that its owner makes.
fn tile_prefix(
  run: u32, tile: u32, total: T, lane: u32, width: u32, subgroup: u32, subgroups: u32
) -> TilePrefix {
  let leads = subgroup == 0u && lane == 0u;

  // Combine the subgroups' totals.
  let totals = tile_totals(total, lane, subgroup, subgroups);

  // Publish the aggregate.
  let publishes = tile_publishes(tile);
  if (leads) { state_publish(run, tile, select(STATUS_NONE, STATUS_AGGREGATE, publishes), totals.all); }

  // Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
  var found = Lookback(identity(), tile, 0u);
  loop {
    if (subgroup == 0u) {
      found = lookback(found, run, lane, width);
      if (lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    let stuck = workgroupUniformLoad(&shared_stuck);
    if (stuck == 0u) { break; }
    let missing = tile_aggregate(stuck - 1u, lane, width, subgroup, subgroups);
    if (leads) { state_help(run, stuck - 1u, missing); }
    workgroupBarrier();
  }

  // Publish the inclusive prefix.
  let prefix = shared_prefix;
  if (leads && publishes) { state_publish(run, tile, STATUS_PREFIX, combine(prefix, totals.all)); }
  return TilePrefix(prefix, totals.all, totals.before);
}
