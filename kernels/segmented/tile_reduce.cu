// segmented/tile_reduce: the first launch of a segmented scan. Reads each element once, writes one total a tile: of what lies behind the last
// place where a segment begins, if one does.

extern "C" __global__ void __launch_bounds__(WORKGROUP) segmented_tile_reduce(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  if (tile >= params.tiles) { return; }
  const u32 seat = threadIdx.x;
  input += params.input_offset;
  input_values += params.input_values_offset;
  // 1. Load the tile's elements, and mark those that begin segments.
  const Segmented asked = ask_tile(input, tile, params.n, seat);
  clear_heads(seat);
  mark_heads(input_values, params, tile, seat);
  stage_tile(asked, seat);
  // 2. The workgroup combines them.
  const T total = block_reduce(fold_tile(own_words(seat), own_heads(tile, seat), params), seat);
  if (seat == 0u) { sums[tile] = total; }
}
