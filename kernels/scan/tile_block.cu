// scan/tile_block: a launch of the scans of several launches. A workgroup goes through its tiles, each scanned in workgroup memory,
// and writes their sum (TASK_SUM), also their scan (TASK_LOCAL), or their scan from what lies before them (TASK_FROM). Reads each
// element once, and writes it once if it scans.

#define TILE_PACKS (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_tile_block(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. What to begin with: a scan of one workgroup is the whole scan.
  T carry = identity();
  if (TASK == TASK_FROM) { carry = sums[group]; }
  if (TASK == TASK_LOCAL && params.groups == 1u) { carry = params.initial; }
  const u32 last = min((group + 1u) * params.tiles_each, params.tiles);
  for (u32 tile = group * params.tiles_each; tile < last; tile++) {
    // 2. Load ROWS packs that lie together, and fold them.
    const u32 first = tile * TILE_PACKS + thread * ROWS;
    Pack rows[ROWS];
    T sum = identity();
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      rows[k] = load_pack(input, first + k, params.n, identity());
      sum = combine(sum, pack_fold(rows[k]));
    }
    // 3. The workgroup scans the sums.
    const BlockScan block = block_exclusive_scan(sum, thread);
    // 4. Scan each pack from its prefix and store it.
    if (TASK != TASK_SUM) {
      T running = combine(carry, block.before);
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        store_pack(output, first + k, params.n, pack_scan(rows[k], running));
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
