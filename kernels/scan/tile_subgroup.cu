// scan/tile_subgroup: scan/tile_block where the device has subgroups, whose lanes read and write packs that lie together.

__shared__ T subgroup_totals[MAX_SUBGROUPS];

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_tile_subgroup(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const Subgroup sg = subgroup_of(threadIdx.x);
  const u32 group = blockIdx.x;
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
    load_rows(input, tile, first, params.n, sg, rows);
    // 3. Scan the rows' packs within the subgroup.
    T before[ROWS];
    const T subgroup_carry = scan_rows(rows, before, sg);
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
    if (TASK != TASK_SUM) { store_rows(output, tile, first, params.n, start, rows, before, sg); }
  }
  // 6. The sum of all.
  if (TASK != TASK_FROM && sg.id == 0u && sg.lane == 0u) { sums[group] = carry; }
  // with TOTAL
  if (group == params.groups - 1u && sg.id == 0u && sg.lane == 0u) { output_total[params.total_offset] = carry; }
}
