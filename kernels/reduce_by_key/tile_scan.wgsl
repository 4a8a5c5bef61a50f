// reduce_by_key/tile_scan: the third launch of a reduction of runs. Each workgroup scans a tile from what lies before it. Reads each element
// once and writes one key and one value a run.

@compute @workgroup_size(WORKGROUP)
fn reduce_by_key_tile_scan(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  // None past the last one. A run of no elements counts none.
  if (tile >= params.tiles) {
    if (thread == 0u && tile == 0u) { output_count[params.output_count_offset] = 0u; }
    return;
  }
  // 1. Each invocation loads ROWS elements that lie together, and folds them.
  let runs = load_runs(tile, params.n, thread);
  let sum = fold_runs(runs);
  // 2. The workgroup scans the sums.
  let block = block_exclusive_scan(sum, thread);
  // 3. Behind the last tile's stands the total: with it the last run ends, and the count of runs is known.
  if (thread == 0u && tile == 0u) {
    let end = sums[params.tiles];
    store_run_total(end);
    output_count[params.output_count_offset] = run_heads(end);
  }
  // 4. Write the runs that begin here.
  let before = sums[tile];
  store_runs(runs, tile, combine(before, block.before), run_heads(before), run_heads(block.total), thread);
}
