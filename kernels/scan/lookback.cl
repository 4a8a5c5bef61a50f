// scan/lookback: single-pass scan with decoupled look-back (Merrill and Garland 2016), and with the fallback of
// Decoupled Fallback (Smith, Levien and Owens 2025) where a tile waits too long. Reads and writes each element once.

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) SUBGROUP_KERNEL void scan_lookback(
  __global const Pack *input, __global Pack *output, __global StateWord *states, __global u32 *ticket, Params params
) {
  __local u32 shared_ticket;
  __local TileShared shared;
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  output += params.output_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.tiles); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 run = taken / TICKETS;

  // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
  const u32 first = tile * TILE_PACKS + sg.id * ROWS * sg.width + sg.lane;
  Pack rows[ROWS];
  if ((tile + 1u) * TILE <= params.n) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = input[first + k * sg.width]; }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(input, first + k * sg.width, params.n, identity()); }
  }

  // 3. Scan the rows' packs within the subgroup.
  T before[ROWS];
  T carry = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const T inclusive = subgroup_inclusive_scan(sg, pack_fold(rows[k]));
    const T exclusive = subgroup_shuffle_element_up(sg, inclusive, 1u);
    before[k] = sg.lane > 0u ? combine(carry, exclusive) : carry;
    carry = combine(carry, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
  }

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  const TileInput from = {input};
  const TilePrefix prefix = tile_prefix(&from, states, ticket, params, run, tile, carry, sg, &shared);

  // 5. Scan each pack from its prefix and store it.
  const T start = combine(prefix.before, prefix.subgroups);
  if ((tile + 1u) * TILE <= params.n) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { output[first + k * sg.width] = pack_scan(rows[k], combine(start, before[k])); }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      store_pack(output, first + k * sg.width, params.n, pack_scan(rows[k], combine(start, before[k])));
    }
  }
}
