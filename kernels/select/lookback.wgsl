// select/lookback: stream compaction in a single pass. How many elements the predicate keeps is scanned over the tiles by
// decoupled look-back, with the fallback of scan/lookback; each tile then writes its elements densely. Reads each element once
// and writes it at most once.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_ticket: u32;

// How many elements of a full tile are kept.
fn tile_aggregate(tile: u32, lane: u32, width: u32, subgroup: u32, subgroups: u32) -> T {
  let first = tile * TILE + subgroup * ROWS * width + lane;
  var kept = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { kept += select(0u, 1u, keeps(first + k * width, load_input(params.input_offset + first + k * width))); }
  let inclusive = subgroup_inclusive_scan(kept, lane);
  let carry = subgroup_shuffle_element(inclusive, width - 1u);
  return tile_totals(carry, lane, subgroup, subgroups).all;
}

@compute @workgroup_size(WORKGROUP)
fn select_lookback(
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

  // 2. Load the tile, each subgroup ROWS rows of one element a lane, and ask the predicate: bit k tells of row k. Hold what is to be
  // written of each.
  let first = tile * TILE + subgroup * ROWS * width + lane;
  let last = params.n - 1u;
  var rows: array<Item, ROWS>;
  var kept = 0u;
  if ((tile + 1u) * TILE <= params.n) {
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = load_input(params.input_offset + first + k * width); }
    // unroll
    for (var k = 0u; k < ROWS; k++) { kept |= select(0u, 1u << k, keeps(first + k * width, rows[k])); }
  } else {
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = load_input(params.input_offset + min(first + k * width, last)); }
    // unroll
    for (var k = 0u; k < ROWS; k++) { kept |= select(0u, 1u << k, first + k * width <= last && keeps(first + k * width, rows[k])); }
  }
  var held: array<Held, ROWS>;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let index = first + k * width;
    held[k] = hold(rows[k], min(index, last), ((kept >> k) & 1u) == 1u || (SELECT_REST != 0u && index <= last));
  }
  let items = hold_items(held, thread);

  // 3. Publish the tile's aggregate as soon as it is known.
  let counted = subgroup_inclusive_sum(countOneBits(kept), lane);
  let announced = tile_announce(epoch, tile, subgroup_shuffle_word(counted, width - 1u), lane, subgroup, subgroups);

  // 4. Rank the kept elements within the subgroup.
  let ranks = rank_items(kept, lane, width);

  // 5. Look back, and publish the tile's prefix.
  let before_tile =
    tile_look_back(epoch, tile, announced.totals.all, announced.publishes, lane, width, subgroup, subgroups);

  // 6. The last tile's inclusive prefix is the count of all that are kept.
  if (leads && tile == params.tiles - 1u) { output_count[params.output_count_offset] = combine(before_tile, announced.totals.all); }

  // 7. Write each element behind those kept before it, or behind those not kept.
  let start = combine(before_tile, announced.totals.before);
  write_items(items, ranks, kept, start, first, width);
}
