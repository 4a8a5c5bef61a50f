// select/lookback: stream compaction in a single pass. How many elements the predicate keeps is scanned over the tiles by
// decoupled look-back, with the fallback of scan/lookback; each tile then writes its elements densely. Reads each element once
// and writes it at most once.

#define TILE (WORKGROUP * ROWS)

__shared__ u32 shared_ticket;
__shared__ Item staged_items[SELECT_STAGED != 0u ? TILE : 1u];

struct TileInput {
  const Item *input;
};

// How many elements of a full tile are kept.
FUNCTION T tile_aggregate(const TileInput &from, u32 tile, Subgroup sg) {
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  T kept = identity();
  for (u32 k = 0u; k < ROWS; k++) { kept += keep(from.input[first + k * sg.width]) ? 1u : 0u; }
  const T inclusive = subgroup_inclusive_scan(kept, sg.lane);
  const T carry = subgroup_shuffle_element(inclusive, sg.width - 1u);
  return tile_totals(carry, sg).all;
}

// Four rows of `kept`, a byte each.
FUNCTION u32 select_bytes(u32 kept, u32 round) {
  return ((kept >> round * SELECT_ROWS & 15u) * 0x204081u) & 0x1010101u;
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

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.tiles); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;

  // 2. Load the tile, each subgroup ROWS rows of one element a lane, and ask the predicate: bit k tells of row k.
  const u32 first = tile * TILE + sg.id * ROWS * sg.width + sg.lane;
  const u32 last = params.n - 1u;
  Item rows[ROWS];
  u32 kept = 0u;
  if ((tile + 1u) * TILE <= params.n) {
    const Item *own = input + first;
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = own[k * sg.width]; }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { kept |= keep(rows[k]) ? 1u << k : 0u; }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = input[min(first + k * sg.width, last)]; }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { kept |= first + k * sg.width <= last && keep(rows[k]) ? 1u << k : 0u; }
  }

  // With SELECT_STAGED the elements wait in workgroup memory, each invocation's in places of its own.
  if (SELECT_STAGED != 0u) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { staged_items[k * WORKGROUP + thread] = rows[k]; }
  }

  // 3. Publish the tile's aggregate as soon as it is known.
  const u32 counted = subgroup_inclusive_sum((u32)__popc(kept), sg.lane);
  const Announced announced =
    tile_announce(states, ticket, params, epoch, tile, subgroup_shuffle_word(counted, sg.width - 1u), sg);

  // 4. Rank the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128. With
  // SELECT_STAGED they stay four to a word until they are used.
  u32 ranks[ROWS], sums[SELECT_ROUNDS];
  T carry = identity();
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) {
    const u32 bytes = select_bytes(kept, r);
    const u32 inclusive = subgroup_inclusive_sum(bytes, sg.lane);
    sums[r] = inclusive;
    const u32 totals = SELECT_STAGED != 0u ? 0u : subgroup_shuffle_word(inclusive, sg.width - 1u);
#pragma unroll
    for (u32 j = 0u; j < SELECT_ROWS; j++) {
      ranks[r * SELECT_ROWS + j] = carry + ((inclusive - bytes) >> 8u * j & 255u);
      carry += totals >> 8u * j & 255u;
    }
  }

  // 5. Look back, and publish the tile's prefix.
  const TileInput from = {input};
  const T before_tile = tile_look_back(from, states, params, epoch, tile, announced.totals.all, announced.publishes, sg);

  // 6. The last tile's inclusive prefix is the count of all that are kept.
  if (leads && tile == params.tiles - 1u) { output_count[0] = combine(before_tile, announced.totals.all); }

  // 7. Write each element behind those kept before it, or behind those not kept.
  const T start = combine(before_tile, announced.totals.before);
  u32 running = start;
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) {
    const u32 bytes = select_bytes(kept, r);
    const u32 totals = SELECT_STAGED != 0u ? subgroup_shuffle_word(sums[r], sg.width - 1u) : 0u;
#pragma unroll
    for (u32 j = 0u; j < SELECT_ROWS; j++) {
      const u32 k = r * SELECT_ROWS + j;
      const u32 index = first + k * sg.width;
      const u32 before = SELECT_STAGED != 0u ? running + ((sums[r] - bytes) >> 8u * j & 255u) : start + ranks[k];
      const Item item = SELECT_STAGED != 0u ? staged_items[k * WORKGROUP + thread] : rows[k];
      if ((kept >> k & 1u) == 1u) {
        output[before] = item;
      } else if (SELECT_REST != 0u && index <= last) {
        output_rest[index - before] = item;
      }
      running += totals >> 8u * j & 255u;
    }
  }
}
