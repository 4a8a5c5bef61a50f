// scan/tile_aggregate: the aggregate of any full tile of a scan, for those who find it missing.

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
fn tile_aggregate(tile: u32, lane: u32, width: u32, subgroup: u32, subgroups: u32) -> T {
  let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
  var carry = identity();
  for (var k = 0u; k < ROWS; k++) {
    let v = load_input(params.input_offset + first + k * width);
    let inclusive = subgroup_inclusive_scan(pack_fold(v), lane);
    carry = combine(carry, subgroup_shuffle_element(inclusive, width - 1u));
  }
  return tile_totals(carry, lane, subgroup, subgroups).all;
}
