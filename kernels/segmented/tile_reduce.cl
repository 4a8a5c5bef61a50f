// segmented/tile_reduce: the first launch of a segmented scan. Reads each element once, writes one total a tile: of what lies behind the last
// place where a segment begins, if one does.

KERNEL SUBGROUP_KERNEL void segmented_tile_reduce(ARGUMENTS) {
  __local T reduce_shared[REDUCE_SHARED];
  __local Stage stage;
  const u32 seat = invocation_place();
  input += params.input_offset;
  input_values += params.input_values_offset;
  // A loop of one turn: of the stores below PoCL makes wrong ones behind a return.
  for (u32 tile = get_group_id(0); tile < params.tiles; tile += get_num_groups(0)) {
    // 1. Load the tile's elements, and mark those that begin segments.
    const Segmented asked = ask_tile(input, tile, params.n, seat);
    clear_heads(seat, &stage);
    mark_heads(input_values, params, tile, seat, &stage);
    stage_tile(&asked, seat, &stage);
    // 2. The workgroup combines them.
    const Segmented elements = own_words(seat, &stage);
    const T total = block_reduce(fold_tile(&elements, own_heads(tile, seat, &stage), params), seat, reduce_shared);
    if (seat == 0u) { sums[tile] = total; }
  }
}
