// scan/tile_subgroup: scan/tile_block where the device has subgroups, whose lanes read and write packs that lie together.

const TILE_PACKS: u32 = WORKGROUP * ROWS;
const TILE: u32 = TILE_PACKS * PACK;

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
    if ((tile + 1u) * TILE <= params.n) {
      // unroll
      for (var k = 0u; k < ROWS; k++) { rows[k] = input[params.input_offset + first + k * width]; }
    } else {
      // unroll
      for (var k = 0u; k < ROWS; k++) { rows[k] = load_pack(first + k * width, params.n, identity()); }
    }
    // 3. Scan the rows' packs within the subgroup.
    var before: array<T, ROWS>;
    var subgroup_carry = identity();
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let inclusive = subgroup_inclusive_scan(pack_fold(rows[k]), lane);
      let exclusive = subgroup_shuffle_element_up(inclusive, 1u);
      before[k] = subgroup_carry;
      if (lane > 0u) { before[k] = combine(subgroup_carry, exclusive); }
      subgroup_carry = combine(subgroup_carry, subgroup_shuffle_element(inclusive, width - 1u));
    }
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
    if (TASK != TASK_SUM && (tile + 1u) * TILE <= params.n) {
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        output[params.output_offset + first + k * width] = pack_scan(rows[k], combine(start, before[k]));
      }
    } else if (TASK != TASK_SUM) {
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        store_pack(first + k * width, params.n, pack_scan(rows[k], combine(start, before[k])));
      }
    }
  }
  // 6. The sum of all.
  if (TASK != TASK_FROM && thread == 0u) { sums[group] = carry; }
}
