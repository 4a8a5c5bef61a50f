// segmented/tile_scan: the third launch of a segmented scan. Each workgroup scans a tile from what lies before it. Reads each element once. A
// scan writes each once, and a reduction one total a segment.

extern "C" __global__ void __launch_bounds__(WORKGROUP) segmented_tile_scan(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  if (tile >= params.tiles) { return; }
  const u32 seat = threadIdx.x;
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  // 1. Load the tile's elements, and mark those that begin segments.
  const Segmented asked = ask_tile(input, tile, params.n, seat);
  clear_heads(seat);
  const u32 own = mark_heads(input_values, params, tile, seat);
  stage_tile(asked, seat);
  const u32 heads = own_heads(tile, seat);
  // 2. Each invocation folds its own, and the workgroup scans the sums.
  const BlockScan block = block_exclusive_scan(fold_tile(own_words(seat), heads, params), seat);
  // 3. Scan the elements from what lies before them, and write.
  scan_tile(own_words(seat), heads, params, seat, combine(sums[tile], block.before));
  store_tile(output, input_values, params, tile, own, seat);
}
