// segmented/tile_scan: the third launch of a segmented scan. Each workgroup scans a tile from what lies before it. Reads each element once. A
// scan writes each once, and a reduction one total a segment.

@compute @workgroup_size(WORKGROUP)
fn segmented_tile_scan(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) seat: u32,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Load the tile's elements, and mark those that begin segments.
  let asked = ask_tile(tile, params.n, seat);
  clear_heads(seat);
  let own = mark_heads(tile, params.n, seat);
  stage_tile(asked, seat);
  let heads = own_heads(tile, seat);
  // 2. Each invocation folds its own, and the workgroup scans the sums.
  let block = block_exclusive_scan(fold_tile(own_words(seat), heads), seat);
  // 3. Scan the elements from what lies before them, and write.
  scan_tile(own_words(seat), heads, seat, combine(sums[tile], block.before));
  store_tile(tile, params.n, own, seat);
}
