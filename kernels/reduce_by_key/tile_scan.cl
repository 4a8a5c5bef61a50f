// reduce_by_key/tile_scan: the third launch of a reduction of runs. Each workgroup scans a tile from what lies before it. Reads each element
// once and writes one key and one value a run.

KERNEL void reduce_by_key_tile_scan(ARGUMENTS) {
  __local T scan_shared[2u * WORKGROUP];
  __local RunStage stage;
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  output_values += params.output_values_offset;
  output_count += params.output_count_offset;
  // A run of no elements counts none.
  if (params.tiles == 0u && get_global_id(0) == 0) { output_count[0] = 0u; }
  // None past the last one. A loop of one turn: of the stores below PoCL makes wrong ones behind a return.
  for (u32 tile = get_group_id(0); tile < params.tiles; tile += get_num_groups(0)) {
    // 1. Each invocation loads ROWS elements that lie together, and folds them.
    const Runs runs = load_runs(input, input_values, tile, params.n, thread, &stage);
    const T sum = fold_runs(&runs);
    // 2. The workgroup scans the sums.
    const BlockScan block = block_exclusive_scan(sum, thread, scan_shared);
    // 3. Behind the last tile's stands the total: with it the last run ends, and the count of runs is known.
    if (thread == 0u && tile == 0u) {
      const T end = sums[params.tiles];
      store_run_total(output_values, end);
      output_count[0] = run_heads(end);
    }
    // 4. Write the runs that begin here.
    const T before = sums[tile];
    const T start = combine(before, block.before);
    store_runs(output, output_values, &runs, tile, start, run_heads(before), run_heads(block.total), thread, &stage);
  }
}
