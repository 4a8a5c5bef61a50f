// scan/lookback: single-pass scan with decoupled look-back (Merrill and Garland 2016), and with the fallback of
// Decoupled Fallback (Smith, Levien and Owens 2025) where a tile waits too long. Reads and writes each element once.

__shared__ u32 shared_ticket;

extern "C" __global__ void __launch_bounds__(WORKGROUP)
scan_lookback(const Pack *input, Pack *output, StateWord *states, u32 *ticket, Params params) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
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
    const T inclusive = subgroup_inclusive_scan(pack_fold(rows[k]), sg.lane);
    const T exclusive = subgroup_shuffle_element_up(inclusive, 1u);
    before[k] = sg.lane > 0u ? combine(carry, exclusive) : carry;
    carry = combine(carry, subgroup_shuffle_element(inclusive, sg.width - 1u));
  }

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  const TileInput from = {input};
  const TilePrefix prefix = tile_prefix(from, states, ticket, params, run, tile, carry, sg);

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
