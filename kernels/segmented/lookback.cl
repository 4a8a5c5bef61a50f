// segmented/lookback: a scan that begins anew with each segment, in a single pass: by decoupled look-back (Merrill and Garland 2016), with the
// fallback of scan/lookback. It carries whether a segment has begun and its total so far. Reads each element once. A scan writes each once,
// and a reduction one total a segment.

struct TileInput {
  Input input;
  InputValues input_values;
  Params params;
  __local Stage *stage;
};

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
T tile_aggregate(const TileInput *from, u32 tile, Subgroup sg, __local TileShared *shared) {
  const u32 seat = sg.id * sg.width + sg.lane;
  clear_heads(seat, from->stage);
  mark_heads(from->input_values, from->params, tile, seat, from->stage);
  workgroup_barrier();
  const Segmented far = far_words(from->input, tile, from->params.n, seat);
  const T inclusive = subgroup_inclusive_scan(sg, fold_tile(&far, own_heads(tile, seat, from->stage), from->params));
  return tile_totals(subgroup_shuffle_element(sg, inclusive, sg.width - 1u), sg, shared->subgroup_totals).all;
}

KERNEL SUBGROUP_KERNEL void segmented_lookback(ARGUMENTS) {
  __local u32 shared_ticket;
  __local TileShared shared;
  __local Stage stage;
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;

  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (thread == 0u) { shared_ticket = ticket_take(ticket, params.slots); }
  const u32 taken = workgroup_uniform_load(&shared_ticket);
  const u32 own_tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  const bool leads = sg.id == 0u && sg.lane == 0u;
  // A workgroup past the last tile, which a run of fewer elements than there are states for has, blanks a state.
  if (leads && own_tile * TILE >= params.n) { state_blank(states, params.slots, epoch, own_tile); }

  OWN_TILE(tile, own_tile) {
    // 2. Load the tile's elements, and mark those that begin segments.
    const u32 seat = sg.id * sg.width + sg.lane;
    const Segmented asked = ask_tile(input, tile, params.n, seat);
    clear_heads(seat, &stage);
    const u32 own = mark_heads(input_values, params, tile, seat, &stage);
    stage_tile(&asked, seat, &stage);
    const u32 heads = own_heads(tile, seat, &stage);

    // 3. Each invocation folds its own, and the subgroup scans the sums.
    const Segmented elements = own_words(seat, &stage);
    const T inclusive = subgroup_inclusive_scan(sg, fold_tile(&elements, heads, params));
    T before = subgroup_shuffle_element_up(sg, inclusive, 1u);
    if (sg.lane == 0u) { before = identity(); }
    const T carry = subgroup_shuffle_element(sg, inclusive, sg.width - 1u);

    // 4. Publish the tile's aggregate, look back, and publish its prefix.
    const TileInput from = {input, input_values, params, &stage};
    const TilePrefix prefix = tile_prefix(&from, states, ticket, params, epoch, tile, carry, sg, &shared);

    // 5. Scan the elements from what lies before them, and write. They were not held meanwhile.
    const Segmented again = own_words(seat, &stage);
    scan_tile(&again, heads, params, seat, combine(combine(prefix.before, prefix.subgroups), before), &stage);
    store_tile(output, input_values, params, tile, own, seat, &stage);
  }
}
