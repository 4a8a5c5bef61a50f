// chain/tile_prefix: what lies before a tile, by decoupled look-back (Merrill and Garland 2016) with the fallback of Decoupled Fallback
// (Smith, Levien and Owens 2025): the tile's aggregate is published, then its prefix. The kernel has the aggregate of any other tile.

struct TilePrefix {
  // The combination of the tiles before this one, of this one, and of the subgroups in it before the invocation's own.
  before: T,
  aggregate: T,
  subgroups: T,
}

// Looks back, and publishes the tile's inclusive prefix. All invocations call it together; returns the exclusive one. If a tile is
// stuck, the whole workgroup computes its aggregate and goes on: `tile_aggregate` of a kernel is the combination of a full tile,
// by the very combines that its owner makes.
fn tile_look_back(
  epoch: u32, tile: u32, aggregate: T, publishes: bool, lane: u32, width: u32, subgroup: u32, subgroups: u32
) -> T {
  let leads = subgroup == 0u && lane == 0u;
  var found = Lookback(identity(), tile, 0u);
  loop {
    if (subgroup == 0u) {
      found = lookback(found, epoch, lane, width);
      if (lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    let stuck = workgroupUniformLoad(&shared_stuck);
    if (stuck == 0u) { break; }
    let missing = tile_aggregate(stuck - 1u, lane, width, subgroup, subgroups);
    if (leads) { state_help(epoch, stuck - 1u, missing); }
    workgroupBarrier();
  }
  let prefix = shared_prefix;
  if (leads && publishes) { state_publish(epoch, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  return prefix;
}

// The one after the other.
fn tile_prefix(
  epoch: u32, tile: u32, total: T, lane: u32, width: u32, subgroup: u32, subgroups: u32
) -> TilePrefix {
  let announced = tile_announce(epoch, tile, total, lane, subgroup, subgroups);
  let all = announced.totals.all;
  let before = tile_look_back(epoch, tile, all, announced.publishes, lane, width, subgroup, subgroups);
  return TilePrefix(before, all, announced.totals.before);
}
