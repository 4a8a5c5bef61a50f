// scan/tile_scan: the third launch of reduce-then-scan. Each workgroup scans a tile from its prefix. Reads and writes
// each element once.

#define TILE_PACKS (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP)
scan_tile_scan(const Pack *input, Pack *output, const T *partials, Params params) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
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
  const BlockScan block = block_exclusive_scan(sum, thread);
  // 3. Scan each pack from its prefix and store it.
  T running = combine(partials[tile], block.before);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    store_pack(output, first + k, params.n, pack_scan(rows[k], running));
    running = combine(running, pack_fold(rows[k]));
  }
}
