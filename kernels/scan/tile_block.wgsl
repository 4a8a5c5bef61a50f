// scan/tile_block: a launch of the scans of several launches. A workgroup goes through its tiles, each scanned in workgroup memory,
// and writes their sum (TASK_SUM), also their scan (TASK_LOCAL), or their scan from what lies before them (TASK_FROM). Reads each
// element once, and writes it once if it scans.

const TILE_PACKS: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn scan_tile_block(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. What to begin with: a scan of one workgroup is the whole scan.
  var carry = identity();
  if (TASK == TASK_FROM) { carry = sums[group]; }
  if (TASK == TASK_LOCAL && params.groups == 1u) { carry = params.initial; }
  let last = min((group + 1u) * params.tiles_each, params.tiles);
  for (var tile = group * params.tiles_each; tile < last; tile++) {
    // 2. Load ROWS packs that lie together, and fold them.
    let first = tile * TILE_PACKS + thread * ROWS;
    var rows: array<Pack, ROWS>;
    var sum = identity();
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      rows[k] = load_pack(first + k, params.n, identity());
      sum = combine(sum, pack_fold(rows[k]));
    }
    // 3. The workgroup scans the sums.
    let block = block_exclusive_scan(sum, thread);
    // 4. Scan each pack from its prefix and store it.
    if (TASK != TASK_SUM) {
      var running = combine(carry, block.before);
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        store_pack(first + k, params.n, pack_scan(rows[k], running));
        running = combine(running, pack_fold(rows[k]));
      }
    }
    carry = combine(carry, block.total);
  }
  // 5. The sum of all.
  if (TASK != TASK_FROM && thread == 0u) { sums[group] = carry; }
  // with TOTAL
  if (group == params.groups - 1u && thread == 0u) { output_total[params.total_offset] = carry; }
}
