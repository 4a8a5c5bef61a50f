// segmented/tile_reduce: the first launch of a segmented scan. Reads each element once, writes one total a tile: of what lies behind the last
// place where a segment begins, if one does.

@compute @workgroup_size(WORKGROUP)
fn segmented_tile_reduce(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  at: Invocation,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  let seat = invocation_place(at);
  // 1. Load the tile's elements, and mark those that begin segments.
  let asked = ask_tile(tile, params.n, seat);
  clear_heads(seat);
  mark_heads(tile, params.n, seat);
  stage_tile(asked, seat);
  // 2. The workgroup combines them.
  let total = block_reduce(fold_tile(own_words(seat), own_heads(tile, seat)), at);
  if (seat == 0u) { sums[tile] = total; }
}
