// scan/tile_scan: the third launch of reduce-then-scan. Each workgroup scans a tile from its prefix. Reads and writes
// each element once.

#define TILE_PACKS (WORKGROUP * ROWS)

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) void scan_tile_scan(__global const Pack *input, __global Pack *output, __global const T *partials, Params params) {
  __local T scan_shared[WORKGROUP];
  const u32 tile = get_group_id(0);
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  output += params.output_offset;
  if (tile >= params.tiles) { return; }
  // 1. Load ROWS packs that lie together, and fold them.
  const u32 first = tile * TILE_PACKS + thread * ROWS;
  Pack rows[ROWS];
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    rows[k] = load_pack(input, first + k, params.n, identity());
    sum = combine(sum, pack_fold(rows[k]));
  }
  // 2. The workgroup scans the sums.
  const BlockScan block = block_exclusive_scan(sum, thread, scan_shared);
  // 3. Scan each pack from its prefix and store it.
  T running = combine(partials[tile], block.before);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    store_pack(output, first + k, params.n, pack_scan(rows[k], running));
    running = combine(running, pack_fold(rows[k]));
  }
}
