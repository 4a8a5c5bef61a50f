// segmented/lookback: a scan that begins anew with each segment, in a single pass: by decoupled look-back (Merrill and Garland 2016), with the
// fallback of scan/lookback. It carries whether a segment has begun and its total so far. Reads each element once. A scan writes each once,
// and a reduction one total a segment.

__shared__ u32 shared_ticket;

struct TileInput {
  Input input;
  InputValues input_values;
  const Params &params;
};

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
FUNCTION T tile_aggregate(const TileInput &from, u32 tile, Subgroup sg) {
  const u32 seat = sg.id * sg.width + sg.lane;
  clear_heads(seat);
  mark_heads(from.input_values, from.params, tile, seat);
  workgroup_barrier();
  const T sum = fold_tile(far_words(from.input, tile, from.params.n, seat), own_heads(tile, seat), from.params);
  const T inclusive = subgroup_inclusive_scan(sum, sg.lane);
  return tile_totals(subgroup_shuffle_element(inclusive, sg.width - 1u), sg).all;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) segmented_lookback(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.slots); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;
  // None past the last one, which a run of fewer elements than there are states for ends with.
  if (tile * TILE >= params.n) {
    if (leads) { state_blank(states, params.slots, epoch, tile); }
    return;
  }

  // 2. Load the tile's elements, and mark those that begin segments.
  const u32 seat = sg.id * sg.width + sg.lane;
  const Segmented asked = ask_tile(input, tile, params.n, seat);
  clear_heads(seat);
  const u32 own = mark_heads(input_values, params, tile, seat);
  stage_tile(asked, seat);
  const u32 heads = own_heads(tile, seat);

  // 3. Each invocation folds its own, and the subgroup scans the sums.
  const T inclusive = subgroup_inclusive_scan(fold_tile(own_words(seat), heads, params), sg.lane);
  T before = subgroup_shuffle_element_up(inclusive, 1u);
  if (sg.lane == 0u) { before = identity(); }
  const T carry = subgroup_shuffle_element(inclusive, sg.width - 1u);

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  const TileInput from = {input, input_values, params};
  const TilePrefix prefix = tile_prefix(from, states, ticket, params, epoch, tile, carry, sg);

  // 5. Scan the elements from what lies before them, and write. They were not held meanwhile.
  scan_tile(own_words(seat), heads, params, seat, combine(combine(prefix.before, prefix.subgroups), before));
  store_tile(output, input_values, params, tile, own, seat);
}
