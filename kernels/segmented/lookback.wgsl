// segmented/lookback: a scan that begins anew with each segment, in a single pass: by decoupled look-back (Merrill and Garland 2016), with the
// fallback of scan/lookback. It carries whether a segment has begun and its total so far. Reads each element once. A scan writes each once,
// and a reduction one total a segment.

var<workgroup> shared_ticket: u32;

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
fn tile_aggregate(tile: u32, lane: u32, width: u32, subgroup: u32, subgroups: u32) -> T {
  let seat = subgroup * width + lane;
  clear_heads(seat);
  mark_heads(tile, params.n, seat);
  workgroupBarrier();
  let sum = fold_tile(far_words(tile, params.n, seat), own_heads(tile, seat));
  let inclusive = subgroup_inclusive_scan(sum, lane);
  return tile_totals(subgroup_shuffle_element(inclusive, width - 1u), lane, subgroup, subgroups).all;
}

@compute @workgroup_size(WORKGROUP)
fn segmented_lookback(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (id.x + id.y * grid.x >= params.slots) { return; }
  if (thread == 0u) { shared_ticket = ticket_take(params.slots); }
  let taken = workgroupUniformLoad(&shared_ticket);
  let tile = taken % TICKETS;
  let epoch = taken / TICKETS;
  let leads = subgroup == 0u && lane == 0u;
  // None past the last one, which a run of fewer elements than there are states for ends with.
  if (tile * TILE >= params.n) {
    if (leads) { state_blank(epoch, tile); }
    return;
  }

  // 2. Load the tile's elements, and mark those that begin segments.
  let seat = subgroup * width + lane;
  let asked = ask_tile(tile, params.n, seat);
  clear_heads(seat);
  let own = mark_heads(tile, params.n, seat);
  stage_tile(asked, seat);
  let heads = own_heads(tile, seat);

  // 3. Each invocation folds its own, and the subgroup scans the sums.
  let inclusive = subgroup_inclusive_scan(fold_tile(own_words(seat), heads), lane);
  var before = subgroup_shuffle_element_up(inclusive, 1u);
  if (lane == 0u) { before = identity(); }
  let carry = subgroup_shuffle_element(inclusive, width - 1u);

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  let prefix = tile_prefix(epoch, tile, carry, lane, width, subgroup, subgroups);

  // 5. Scan the elements from what lies before them, and write. They were not held meanwhile.
  scan_tile(own_words(seat), heads, seat, combine(combine(prefix.before, prefix.subgroups), before));
  store_tile(tile, params.n, own, seat);
}
