// scan/lookback_pipelined: single-pass scan by look-ahead where no hardware copies tiles. A workgroup stays, and holds two tiles in
// its registers: the next one's aggregate is published before it looks back for the one in hand, so that hardly a tile waits for
// another's. Reads and writes each element once.

__shared__ u32 shared_ticket;

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_lookback_pipelined(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  output += params.output_offset;
  const TileInput from = {input};
  const u32 seat = sg.id * ROWS * sg.width + sg.lane;
  // The tile in hand, once there is one.
  u32 tile = params.tiles;
  T aggregate = identity(), subgroup_prefix = identity();
  bool publishes = false;
  Pack rows[ROWS];
  T before[ROWS];
  while (true) {
    // 1. Take the next tile. Every workgroup takes one ticket past the last tile's.
    if (thread == 0u) { shared_ticket = ticket_take(ticket, params.tiles + params.groups); }
    const u32 taken = workgroup_uniform_load(&shared_ticket);
    const u32 next = taken % TICKETS;
    const u32 epoch = taken / TICKETS;
    Announced announced = {{identity(), identity()}, false};
    Pack next_rows[ROWS];
    T next_before[ROWS];
    if (next < params.tiles) {
      // 2. Load it.
      const u32 first = next * TILE_PACKS + seat;
      if ((next + 1u) * TILE <= params.n) {
#pragma unroll
        for (u32 k = 0u; k < ROWS; k++) { next_rows[k] = load_input(input, first + k * sg.width); }
      } else {
#pragma unroll
        for (u32 k = 0u; k < ROWS; k++) { next_rows[k] = load_pack(input, first + k * sg.width, params.n, identity()); }
      }

      // 3. Scan its rows' packs within the subgroup, and publish its aggregate.
      const T carry = scan_rows(next_rows, next_before, sg);
      announced = tile_announce(states, ticket, params, epoch, next, carry, sg);
      // Nobody asks for the last tile's state, and the prefix that belongs to it may not be written in this epoch.
      if (thread == 0u && next == params.tiles - 1u) { state_blank(states, params.slots, epoch, next); }
    }
    if (tile < params.tiles) {
      // 4. Look back for the tile in hand, and publish its prefix.
      const T prefix = tile_look_back(from, states, params, epoch, tile, aggregate, publishes, sg);

      // 5. Scan each of its packs from its prefix and store it.
      const T start = combine(prefix, subgroup_prefix);
      const u32 first = tile * TILE_PACKS + seat;
      if ((tile + 1u) * TILE <= params.n) {
#pragma unroll
        for (u32 k = 0u; k < ROWS; k++) { store_output(output, first + k * sg.width, pack_scan(rows[k], combine(start, before[k]))); }
      } else {
#pragma unroll
        for (u32 k = 0u; k < ROWS; k++) {
          store_pack(output, first + k * sg.width, params.n, pack_scan(rows[k], combine(start, before[k])));
        }
      }
    }
    if (next >= params.tiles) {
      // States that a run of more elements uses.
      for (u32 spare = next + thread * params.groups; spare < params.slots; spare += WORKGROUP * params.groups) {
        state_blank(states, params.slots, epoch, spare);
      }
      break;
    }

    // 6. The next tile is the one in hand.
    tile = next;
    aggregate = announced.totals.all;
    subgroup_prefix = announced.totals.before;
    publishes = announced.publishes;
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      rows[k] = next_rows[k];
      before[k] = next_before[k];
    }
  }
}
