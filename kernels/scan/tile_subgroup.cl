// scan/tile_subgroup: scan/tile_block where the device has subgroups, whose lanes read and write packs that lie together.

#define TILE_PACKS (WORKGROUP * ROWS)
#define TILE (TILE_PACKS * PACK)

KERNEL SUBGROUP_KERNEL void scan_tile_subgroup(ARGUMENTS) {
  __local T subgroup_totals[MAX_SUBGROUPS];
  DECLARE_SUBGROUP(sg);
  const u32 group = get_group_id(0);
  input += params.input_offset;
  output += params.output_offset;
  // 1. What to begin with: a scan of one workgroup is the whole scan.
  T carry = identity();
  if (TASK == TASK_FROM) { carry = sums[group]; }
  if (TASK == TASK_LOCAL && params.groups == 1u) { carry = params.initial; }
  const u32 last = min((group + 1u) * params.tiles_each, params.tiles);
  for (u32 tile = group * params.tiles_each; tile < last; tile++) {
    // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
    const u32 first = tile * TILE_PACKS + sg.id * ROWS * sg.width + sg.lane;
    Pack rows[ROWS];
    if ((tile + 1u) * TILE <= params.n) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = input[first + k * sg.width]; }
    } else {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(input, first + k * sg.width, params.n, identity()); }
    }
    // 3. Scan the rows' packs within the subgroup.
    T before[ROWS];
    T subgroup_carry = identity();
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const T inclusive = subgroup_inclusive_scan(sg, pack_fold(rows[k]));
      const T exclusive = subgroup_shuffle_element_up(sg, inclusive, 1u);
      before[k] = sg.lane > 0u ? combine(subgroup_carry, exclusive) : subgroup_carry;
      subgroup_carry = combine(subgroup_carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
    }
    // 4. Combine the subgroups' totals.
    if (sg.lane == 0u) { subgroup_totals[sg.id] = subgroup_carry; }
    workgroup_barrier();
    T start = carry;
    for (u32 s = 0u; s < sg.count; s++) {
      if (s == sg.id) { start = carry; }
      carry = combine(carry, subgroup_totals[s]);
    }
    workgroup_barrier();
    // 5. Scan each pack from its prefix and store it.
    if (TASK != TASK_SUM && (tile + 1u) * TILE <= params.n) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        output[first + k * sg.width] = pack_scan(rows[k], combine(start, before[k]));
      }
    } else if (TASK != TASK_SUM) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        store_pack(output, first + k * sg.width, params.n, pack_scan(rows[k], combine(start, before[k])));
      }
    }
  }
  // 6. The sum of all.
  if (TASK != TASK_FROM && sg.id == 0u && sg.lane == 0u) { sums[group] = carry; }
}
