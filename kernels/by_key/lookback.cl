// by_key/lookback: reduction of the runs of equal keys in a single pass: a segmented scan by decoupled look-back, with the fallback
// of scan/lookback, which carries how many runs have begun and the total of the last one. Where a run begins, its key and the
// total of the run before it are written. Reads each element once and writes one key and one value a run.

#define TILE (WORKGROUP * ROWS)

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
T tile_aggregate(
  __global const u32 *input, __global const u32 *input_values, u32 tile, u32 n, Subgroup sg, __local T *subgroup_totals
) {
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  T carry = identity();
  for (u32 k = 0u; k < ROWS; k++) {
    const T inclusive = subgroup_inclusive_scan(sg, load_run(input, input_values, first + k * sg.width, n));
    carry = combine(carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
  }
  if (sg.lane == 0u) { subgroup_totals[sg.id] = carry; }
  workgroup_barrier();
  T total = identity();
  for (u32 s = 0u; s < sg.count; s++) { total = combine(total, subgroup_totals[s]); }
  return total;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) SUBGROUP_KERNEL void by_key_lookback(
  __global const u32 *input, __global const u32 *input_values, __global StateWord *states, __global u32 *ticket,
  __global u32 *output, __global u32 *output_values, __global u32 *output_count, Params params
) {
  __local u32 shared_ticket;
  __local u32 shared_stuck;
  __local T shared_prefix;
  __local T subgroup_totals[MAX_SUBGROUPS];
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  output_values += params.output_values_offset;
  output_count += params.output_count_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.tiles); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 run = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;

  // 2. Load the tile: each subgroup takes ROWS rows of one element a lane.
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  T rows[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_run(input, input_values, first + k * sg.width, params.n); }

  // 3. Scan the rows within the subgroup.
  T before[ROWS];
  T carry = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const T inclusive = subgroup_inclusive_scan(sg, rows[k]);
    const T exclusive = subgroup_shuffle_element_up(sg, inclusive, 1u);
    before[k] = carry;
    if (sg.lane > 0u) { before[k] = combine(carry, exclusive); }
    carry = combine(carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
  }

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
  if (leads) { state_publish(states, params.tiles, run, tile, status, aggregate); }

  // 6. Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
  Lookback found = {identity(), tile, 0u};
  while (true) {
    if (LEADING_SUBGROUP(sg)) {
      found = lookback(found, states, params.tiles, run, params.initial, sg);
      if (leads) {
        shared_prefix = found.prefix;
        shared_stuck = found.stuck;
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared_stuck);
    if (stuck == 0u) { break; }
    const T missing = tile_aggregate(input, input_values, stuck - 1u, params.n, sg, subgroup_totals);
    if (leads) { state_help(states, params.tiles, run, stuck - 1u, missing); }
    workgroup_barrier();
  }

  // 7. Publish the inclusive prefix. With the last one the last run ends, and the count of runs is known.
  const T prefix = shared_prefix;
  const T end = combine(prefix, aggregate);
  if (leads && publishes) { state_publish(states, params.tiles, run, tile, STATUS_PREFIX, end); }
  if (leads && tile == params.tiles - 1u) {
    store_run_total(output_values, end);
    output_count[0] = element_to_words(end).w[RUN_WORDS];
  }

  // 8. Write the runs that begin here.
  const T start = combine(prefix, subgroup_prefix);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    store_run(input, output, output_values, first + k * sg.width, rows[k], combine(start, before[k]));
  }
}
