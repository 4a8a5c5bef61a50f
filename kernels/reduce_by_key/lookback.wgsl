// reduce_by_key/lookback: reduction of the runs of equal keys in a single pass: a segmented scan by decoupled look-back, with the fallback
// of scan/lookback, which carries how many runs have begun and the total of the last one. Where a run begins, its key and the
// total of the run before it are written. Reads each element once and writes one key and one value a run.

var<workgroup> shared_ticket: u32;

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
fn tile_aggregate(tile: u32, lane: u32, width: u32, subgroup: u32, subgroups: u32) -> T {
  let runs = load_runs(tile, params.n, subgroup * width + lane);
  let inclusive = subgroup_inclusive_scan(fold_runs(runs), lane);
  return tile_totals(subgroup_shuffle_element(inclusive, width - 1u), lane, subgroup, subgroups).all;
}

@compute @workgroup_size(WORKGROUP)
fn reduce_by_key_lookback(
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
    // A run of no elements counts none.
    if (leads && tile == 0u) { output_count[params.output_count_offset] = 0u; }
    return;
  }

  // 2. Each invocation loads ROWS elements that lie together, and folds them.
  let seat = subgroup * width + lane;
  let runs = load_runs(tile, params.n, seat);
  let sum = fold_runs(runs);

  // 3. Scan the sums within the subgroup.
  let inclusive = subgroup_inclusive_scan(sum, lane);
  var before = subgroup_shuffle_element_up(inclusive, 1u);
  if (lane == 0u) { before = identity(); }
  let carry = subgroup_shuffle_element(inclusive, width - 1u);

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  let prefix = tile_prefix(epoch, tile, carry, lane, width, subgroup, subgroups);

  // 5. With the last tile the last run ends, and the count of runs is known.
  if (leads && tile == params.tiles - 1u) {
    let end = combine(prefix.before, prefix.aggregate);
    store_run_total(end);
    output_count[params.output_count_offset] = run_heads(end);
  }

  // 6. Write the runs that begin here.
  let start = combine(combine(prefix.before, prefix.subgroups), before);
  store_runs(runs, tile, start, run_heads(prefix.before), run_heads(prefix.aggregate), seat);
}
