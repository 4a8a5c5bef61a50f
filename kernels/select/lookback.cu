// select/lookback: stream compaction in a single pass. How many elements the predicate keeps is scanned over the tiles by
// decoupled look-back, with the fallback of scan/lookback; each tile then writes its elements densely. Reads each element once
// and writes it at most once.

#define TILE (WORKGROUP * ROWS)

__shared__ u32 shared_ticket;

struct TileInput {
  Input input;
};

// How many elements of a full tile are kept.
FUNCTION T tile_aggregate(const TileInput &from, u32 tile, Subgroup sg) {
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  T kept = identity();
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = first + k * sg.width;
    kept += keeps(from.input, index, load_input(from.input, index)) ? 1u : 0u;
  }
  const T inclusive = subgroup_inclusive_scan(kept, sg.lane);
  const T carry = subgroup_shuffle_element(inclusive, sg.width - 1u);
  return tile_totals(carry, sg).all;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) select_lookback(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  output += params.output_offset;
  output_rest += params.output_rest_offset;
  output_count += params.output_count_offset;
  input_values += params.input_values_offset;
  output_values += params.output_values_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.slots); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;
  // None past the last one, which a run of fewer elements than there are states for ends with.
  if (tile * TILE >= params.n) {
    if (leads) { state_blank(states, params.slots, epoch, tile); }
    // A run of no elements counts none.
    if (leads && tile == 0u) { output_count[0] = 0u; }
    return;
  }

  // 2. Load the tile, each subgroup ROWS rows of one element a lane, and ask the predicate: bit k tells of row k. Hold what is to be
  // written of each.
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  const u32 last = params.n - 1u;
  Item rows[ROWS];
  u32 kept = 0u;
  if ((tile + 1u) * TILE <= params.n) {
    const Input own = input_from(input, first);
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(own, k * sg.width); }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { kept |= keeps(input, first + k * sg.width, rows[k]) ? 1u << k : 0u; }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(input, min(first + k * sg.width, last)); }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = first + k * sg.width;
      kept |= index <= last && keeps(input, index, rows[k]) ? 1u << k : 0u;
    }
  }
  const Keeping keeping = KEEPING;
  Held held[ROWS];
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = first + k * sg.width;
    held[k] = hold(keeping, rows[k], min(index, last), (kept >> k & 1u) == 1u || (SELECT_REST != 0u && index <= last));
  }
  const Items items = hold_items(held, thread);

  // 3. Publish the tile's aggregate as soon as it is known.
  const u32 counted = subgroup_inclusive_sum((u32)__popc(kept), sg.lane);
  const Announced announced =
    tile_announce(states, ticket, params, epoch, tile, subgroup_shuffle_word(counted, sg.width - 1u), sg);

  // 4. Rank the kept elements within the subgroup.
  const Ranks ranks = rank_items(kept, sg);

  // 5. Look back, and publish the tile's prefix.
  const TileInput from = {input};
  const T before_tile = tile_look_back(from, states, params, epoch, tile, announced.totals.all, announced.publishes, sg);

  // 6. The last tile's inclusive prefix is the count of all that are kept.
  if (leads && tile == params.tiles - 1u) { output_count[0] = combine(before_tile, announced.totals.all); }

  // 7. Write each element behind those kept before it, or behind those not kept.
  const T start = combine(before_tile, announced.totals.before);
  write_items(keeping, items, ranks, kept, start, first, last, sg);
}
