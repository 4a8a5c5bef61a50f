// reduce_by_key/tile_reduce: the first launch of a reduction of runs. Reads each element once, writes one segment a tile.

@compute @workgroup_size(WORKGROUP)
fn reduce_by_key_tile_reduce(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  invocation: Invocation,
) {
  let thread = invocation_place(invocation);
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Each invocation folds ROWS elements that lie together.
  let runs = load_runs(tile, params.n, thread);
  let sum = fold_runs(runs);
  // 2. The workgroup combines them. Behind the last tile's stands none, which the scan turns into the total.
  let total = block_reduce(sum, invocation);
  if (thread == 0u) { sums[tile] = total; }
  if (thread == 0u && tile == params.tiles - 1u) { sums[params.tiles] = identity(); }
}
