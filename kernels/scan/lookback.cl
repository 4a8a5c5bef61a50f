// scan/lookback: single-pass scan with decoupled look-back (Merrill and Garland 2016), and with the fallback of
// Decoupled Fallback (Smith, Levien and Owens 2025) where a tile waits too long. Reads and writes each element once.

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
T tile_aggregate(Input input, u32 tile, Subgroup sg, __local T *subgroup_totals) {
  const u32 first = tile * TILE_PACKS + sg.id * ROWS * sg.width + sg.lane;
  T carry = identity();
  for (u32 k = 0u; k < ROWS; k++) {
    const Pack v = load_input(input, first + k * sg.width);
    const T inclusive = subgroup_inclusive_scan(sg, pack_fold(v));
    carry = combine(carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
  }
  if (sg.lane == 0u) { subgroup_totals[sg.id] = carry; }
  workgroup_barrier();
  T total = identity();
  for (u32 s = 0u; s < sg.count; s++) { total = combine(total, subgroup_totals[s]); }
  return total;
}

KERNEL SUBGROUP_KERNEL void scan_lookback(ARGUMENTS) {
  __local u32 shared_ticket;
  __local u32 shared_stuck;
  __local T shared_prefix;
  __local T subgroup_totals[MAX_SUBGROUPS];
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  output += params.output_offset;
  // with TOTAL
  output_total += params.total_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.slots); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;
  // None past the last one, which a run of fewer elements than there are states for ends with.
  if (tile >= params.tiles) {
    if (leads) { state_blank(states, params.slots, epoch, tile); }
    // with TOTAL
    if (leads && tile == 0u) { output_total[0] = params.initial; }
    return;
  }

  // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
  const u32 first = tile * TILE_PACKS + sg.id * ROWS * sg.width + sg.lane;
  Pack rows[ROWS];
  load_rows(input, tile, first, params.n, sg, rows);

  // 3. Scan the rows' packs within the subgroup.
  T before[ROWS];
  const T carry = scan_rows(rows, before, sg);

  // 4. Combine the subgroups' totals.
  if (sg.lane == 0u) { subgroup_totals[sg.id] = carry; }
  workgroup_barrier();
  T subgroup_prefix = identity();
  T aggregate = identity();
  for (u32 s = 0u; s < sg.count; s++) {
    if (s == sg.id) { subgroup_prefix = aggregate; }
    aggregate = combine(aggregate, subgroup_totals[s]);
  }

  // 5. Publish the aggregate.
  const bool publishes = tile_publishes(ticket, tile);
  const u32 status = publishes ? STATUS_AGGREGATE : STATUS_NONE;
  if (leads) { state_publish(states, params.slots, epoch, tile, status, aggregate); }

  // 6. Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
  Lookback found = {identity(), tile, 0u};
  while (true) {
    if (LEADING_SUBGROUP(sg)) {
      found = lookback(found, states, params.slots, epoch, params.initial, sg);
      if (leads) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared_stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(input, stuck - 1u, sg, subgroup_totals);
    if (leads) { state_help(states, params.slots, epoch, stuck - 1u, missing); }
    workgroup_barrier();
  }

  // 7. Publish the inclusive prefix.
  const T prefix = shared_prefix;
  if (leads && publishes) { state_publish(states, params.slots, epoch, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  // with TOTAL
  if (leads && tile == params.tiles - 1u) { output_total[0] = combine(prefix, aggregate); }

  // 8. Scan each pack from its prefix and store it.
  const T start = combine(prefix, subgroup_prefix);
  store_rows(output, tile, first, params.n, start, rows, before, sg);
}
