// scan/lookback: single-pass scan with decoupled look-back (Merrill and Garland 2016), and with the fallback of
// Decoupled Fallback (Smith, Levien and Owens 2025) where a tile waits too long. Reads and writes each element once.

var<workgroup> shared_ticket: u32;
var<workgroup> shared_stuck: u32;
var<workgroup> shared_prefix: T;
var<workgroup> subgroup_totals: array<T, MAX_SUBGROUPS>;

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
fn tile_aggregate(tile: u32, lane: u32, width: u32, subgroup: u32, subgroups: u32) -> T {
  let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
  var carry = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let v = load_input(params.input_offset + first + k * width);
    let inclusive = subgroup_inclusive_scan(pack_fold(v), lane);
    carry = combine(carry, subgroup_shuffle_element(inclusive, width - 1u));
  }
  if (lane == 0u) { subgroup_totals[subgroup] = carry; }
  workgroupBarrier();
  var total = identity();
  for (var s = 0u; s < subgroups; s++) { total = combine(total, subgroup_totals[s]); }
  return total;
}

@compute @workgroup_size(WORKGROUP)
fn scan_lookback(
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
  if (tile >= params.tiles) {
    if (leads) { state_blank(epoch, tile); }
    // with TOTAL
    if (leads && tile == 0u) { output_total[params.total_offset] = params.initial; }
    return;
  }

  // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
  let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
  var rows: array<Pack, ROWS>;
  load_rows(tile, first, width, &rows);

  // 3. Scan the rows' packs within the subgroup.
  var before: array<T, ROWS>;
  let carry = scan_rows(&rows, &before, lane, width);

  // 4. Combine the subgroups' totals.
  if (lane == 0u) { subgroup_totals[subgroup] = carry; }
  workgroupBarrier();
  var subgroup_prefix = identity();
  var aggregate = identity();
  for (var s = 0u; s < subgroups; s++) {
    if (s == subgroup) { subgroup_prefix = aggregate; }
    aggregate = combine(aggregate, subgroup_totals[s]);
  }

  // 5. Publish the aggregate.
  let publishes = tile_publishes(tile);
  if (leads) { state_publish(epoch, tile, select(STATUS_NONE, STATUS_AGGREGATE, publishes), aggregate); }

  // 6. Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
  var found = Lookback(identity(), tile, 0u);
  loop {
    if (subgroup == 0u) {
      found = lookback(found, epoch, lane, width);
      if (lane == 0u) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    let stuck = workgroupUniformLoad(&shared_stuck);
    if (stuck == 0u) { break; }
    let missing = tile_aggregate(stuck - 1u, lane, width, subgroup, subgroups);
    if (leads) { state_help(epoch, stuck - 1u, missing); }
    workgroupBarrier();
  }

  // 7. Publish the inclusive prefix.
  let prefix = shared_prefix;
  if (leads && publishes) { state_publish(epoch, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  // with TOTAL
  if (leads && tile == params.tiles - 1u) { output_total[params.total_offset] = combine(prefix, aggregate); }

  // 8. Scan each pack from its prefix and store it.
  let start = combine(prefix, subgroup_prefix);
  store_rows(tile, first, width, start, &rows, &before);
}
