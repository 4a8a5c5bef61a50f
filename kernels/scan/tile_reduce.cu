// scan/tile_reduce: the first launch of reduce-then-scan. Reads each element once, writes one element a tile.

#define TILE_PACKS (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP)
scan_tile_reduce(const Pack *input, T *partials, Params params) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  if (tile >= params.tiles) { return; }
  // 1. Each invocation folds ROWS packs that lie together.
  const u32 first = tile * TILE_PACKS + thread * ROWS;
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    sum = combine(sum, pack_fold(load_pack(input, first + k, params.n, identity())));
  }
  // 2. The workgroup combines them.
  const T total = block_reduce(sum, thread);
  if (thread == 0u) { partials[tile] = total; }
}
