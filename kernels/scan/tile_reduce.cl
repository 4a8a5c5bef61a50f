// scan/tile_reduce: the first launch of reduce-then-scan. Reads each element once, writes one element a tile.

#define TILE_PACKS (WORKGROUP * ROWS)

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) void scan_tile_reduce(__global const Pack *input, __global T *partials, Params params) {
  __local T reduce_shared[WORKGROUP];
  const u32 tile = get_group_id(0);
  const u32 thread = get_local_id(0);
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
  const T total = block_reduce(sum, thread, reduce_shared);
  if (thread == 0u) { partials[tile] = total; }
}
