// scan/tile_subgroup: scan/tile_block where the device has subgroups, whose lanes read and write packs that lie together.

var<workgroup> subgroup_totals: array<T, MAX_SUBGROUPS>;

@compute @workgroup_size(WORKGROUP)
fn scan_tile_subgroup(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. What to begin with: a scan of one workgroup is the whole scan.
  var carry = identity();
  if (TASK == TASK_FROM) { carry = sums[group]; }
  if (TASK == TASK_LOCAL && params.groups == 1u) { carry = params.initial; }
  let last = min((group + 1u) * params.tiles_each, params.tiles);
  for (var tile = group * params.tiles_each; tile < last; tile++) {
    // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
    let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
    var rows: array<Pack, ROWS>;
    load_rows(tile, first, width, &rows);
    // 3. Scan the rows' packs within the subgroup.
    var before: array<T, ROWS>;
    let subgroup_carry = scan_rows(&rows, &before, lane, width);
    // 4. Combine the subgroups' totals.
    if (lane == 0u) { subgroup_totals[subgroup] = subgroup_carry; }
    workgroupBarrier();
    var start = carry;
    for (var s = 0u; s < subgroups; s++) {
      if (s == subgroup) { start = carry; }
      carry = combine(carry, subgroup_totals[s]);
    }
    workgroupBarrier();
    // 5. Scan each pack from its prefix and store it.
    if (TASK != TASK_SUM) { store_rows(tile, first, width, start, &rows, &before); }
  }
  // 6. The sum of all.
  if (TASK != TASK_FROM && thread == 0u) { sums[group] = carry; }
  // with TOTAL
  if (group == params.groups - 1u && thread == 0u) { output_total[params.total_offset] = carry; }
}
