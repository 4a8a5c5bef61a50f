// segmented/tile_scan: the third launch of a segmented scan. Each workgroup scans a tile from what lies before it. Reads each element once. A
// scan writes each once, and a reduction one total a segment.

KERNEL void segmented_tile_scan(ARGUMENTS) {
  __local T scan_shared[2u * WORKGROUP];
  __local Stage stage;
  const u32 seat = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  // A loop of one turn: of the stores below PoCL makes wrong ones behind a return.
  for (u32 tile = get_group_id(0); tile < params.tiles; tile += get_num_groups(0)) {
    // 1. Load the tile's elements, and mark those that begin segments.
    const Segmented asked = ask_tile(input, tile, params.n, seat);
    clear_heads(seat, &stage);
    const u32 own = mark_heads(input_values, params, tile, seat, &stage);
    stage_tile(&asked, seat, &stage);
    const u32 heads = own_heads(tile, seat, &stage);
    // 2. Each invocation folds its own, and the workgroup scans the sums.
    const Segmented elements = own_words(seat, &stage);
    const BlockScan block = block_exclusive_scan(fold_tile(&elements, heads, params), seat, scan_shared);
    // 3. Scan the elements from what lies before them, and write.
    scan_tile(&elements, heads, params, seat, combine(sums[tile], block.before), &stage);
    store_tile(output, input_values, params, tile, own, seat, &stage);
  }
}
