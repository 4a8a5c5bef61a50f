// reduce_by_key/tile_reduce: the first launch of a reduction of runs. Reads each element once, writes one segment a tile.

KERNEL SUBGROUP_KERNEL void reduce_by_key_tile_reduce(ARGUMENTS) {
  __local T reduce_shared[REDUCE_SHARED];
  __local RunStage stage;
  const u32 tile = get_group_id(0);
  if (tile >= params.tiles) { return; }
  const u32 thread = invocation_place();
  input += params.input_offset;
  input_values += params.input_values_offset;
  // 1. Each invocation folds ROWS elements that lie together.
  const Runs runs = load_runs(input, input_values, tile, params.n, thread, &stage);
  const T sum = fold_runs(&runs);
  // 2. The workgroup combines them. Behind the last tile's stands none, which the scan turns into the total.
  const T total = block_reduce(sum, thread, reduce_shared);
  if (thread == 0u) { sums[tile] = total; }
  if (thread == 0u && tile == params.tiles - 1u) { sums[params.tiles] = identity(); }
}
