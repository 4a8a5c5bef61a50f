// reduce_by_key/tile_scan: the third launch of a reduction of runs. Each workgroup scans a tile from what lies before it. Reads each element
// once and writes one key and one value a run.

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_by_key_tile_scan(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  output_values += params.output_values_offset;
  output_count += params.output_count_offset;
  // None past the last one. A run of no elements counts none.
  if (tile >= params.tiles) {
    if (thread == 0u && tile == 0u) { output_count[0] = 0u; }
    return;
  }
  // 1. Each invocation loads ROWS elements that lie together, and folds them.
  const Runs runs = load_runs(input, input_values, tile, params.n, thread);
  const T sum = fold_runs(runs);
  // 2. The workgroup scans the sums.
  const BlockScan block = block_exclusive_scan(sum, thread);
  // 3. Behind the last tile's stands the total: with it the last run ends, and the count of runs is known.
  if (thread == 0u && tile == 0u) {
    const T end = sums[params.tiles];
    store_run_total(output_values, end);
    output_count[0] = run_heads(end);
  }
  // 4. Write the runs that begin here.
  const T before = sums[tile];
  store_runs(output, output_values, runs, tile, combine(before, block.before), run_heads(before), run_heads(block.total), thread);
}
