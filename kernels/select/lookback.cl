// select/lookback: stream compaction in a single pass. How many elements the predicate keeps is scanned over the tiles by
// decoupled look-back, with the fallback of scan/lookback; each tile then writes its elements densely. Reads each element once
// and writes it at most once.

#define TILE (WORKGROUP * ROWS)

// How many elements of a full tile are kept.
T tile_aggregate(__global const Item *input, u32 tile, Subgroup sg, __local T *subgroup_totals) {
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  T kept = identity();
  for (u32 k = 0u; k < ROWS; k++) { kept += keep(input[first + k * sg.width]) ? 1u : 0u; }
  const T inclusive = subgroup_inclusive_scan(sg, kept);
  const T carry = subgroup_shuffle_element(sg, inclusive, sg.width - 1u);
  if (sg.lane == 0u) { subgroup_totals[sg.id] = carry; }
  workgroup_barrier();
  T total = identity();
  for (u32 s = 0u; s < sg.count; s++) { total = combine(total, subgroup_totals[s]); }
  return total;
}

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) SUBGROUP_KERNEL void select_lookback(
  __global const Item *input, __global Item *output, __global StateWord *states, __global u32 *ticket,
  __global Item *output_rest, __global u32 *output_count, Params params
) {
  __local u32 shared_ticket;
  __local u32 shared_stuck;
  __local T shared_prefix;
  __local T subgroup_totals[MAX_SUBGROUPS];
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  output += params.output_offset;
  output_rest += params.output_rest_offset;
  output_count += params.output_count_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.tiles); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 run = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;

  // 2. Load the tile: each subgroup takes ROWS rows of one element a lane.
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  const u32 last = params.n - 1u;
  Item rows[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { rows[k] = input[min(first + k * sg.width, last)]; }

  // 3. Ask the predicate: bit k tells of row k.
  u32 kept = 0u;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    if (first + k * sg.width <= last && keep(rows[k])) { kept |= 1u << k; }
  }

  // 4. Rank the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128.
  u32 ranks[ROWS];
  T carry = identity();
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) {
    const u32 bytes = ((kept >> r * SELECT_ROWS & 15u) * 0x204081u) & 0x1010101u;
    const u32 inclusive = subgroup_inclusive_sum(sg, bytes);
    const u32 totals = subgroup_shuffle_word(sg, inclusive, sg.width - 1u);
#pragma unroll
    for (u32 j = 0u; j < SELECT_ROWS; j++) {
      ranks[r * SELECT_ROWS + j] = carry + ((inclusive - bytes) >> 8u * j & 255u);
      carry += totals >> 8u * j & 255u;
    }
  }

  // 5. Combine the subgroups' totals.
  if (sg.lane == 0u) { subgroup_totals[sg.id] = carry; }
  workgroup_barrier();
  T subgroup_prefix = identity();
  T aggregate = identity();
  for (u32 s = 0u; s < sg.count; s++) {
    if (s == sg.id) { subgroup_prefix = aggregate; }
    aggregate = combine(aggregate, subgroup_totals[s]);
  }

  // 6. Publish the aggregate.
  const bool publishes = tile_publishes(ticket, tile);
  const u32 status = publishes ? STATUS_AGGREGATE : STATUS_NONE;
  if (leads) { state_publish(states, params.tiles, run, tile, status, aggregate); }

  // 7. Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
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
    const T missing = tile_aggregate(input, stuck - 1u, sg, subgroup_totals);
    if (leads) { state_help(states, params.tiles, run, stuck - 1u, missing); }
    workgroup_barrier();
  }

  // 8. Publish the inclusive prefix. The last one is the count of all that are kept.
  const T prefix = shared_prefix;
  if (leads && publishes) { state_publish(states, params.tiles, run, tile, STATUS_PREFIX, combine(prefix, aggregate)); }
  if (leads && tile == params.tiles - 1u) { output_count[0] = combine(prefix, aggregate); }

  // 9. Write each element behind those kept before it, or behind those not kept.
  const T start = combine(prefix, subgroup_prefix);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = first + k * sg.width;
    const u32 before = start + ranks[k];
    if ((kept >> k & 1u) == 1u) {
      output[before] = rows[k];
    } else if (SELECT_REST != 0u && index <= last) {
      output_rest[index - before] = rows[k];
    }
  }
}
