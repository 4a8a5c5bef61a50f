// scan/tile_aggregate: the aggregate of any full tile of a scan, for those who find it missing.

struct TileInput {
  Input input;
};

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
T tile_aggregate(const TileInput *from, u32 tile, Subgroup sg, __local TileShared *shared) {
  const u32 first = tile * TILE_PACKS + sg.id * ROWS * sg.width + sg.lane;
  T carry = identity();
  for (u32 k = 0u; k < ROWS; k++) {
    const Pack v = load_input(from->input, first + k * sg.width);
    const T inclusive = subgroup_inclusive_scan(sg, pack_fold(v));
    carry = combine(carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
  }
  return tile_totals(carry, sg, shared->subgroup_totals).all;
}
