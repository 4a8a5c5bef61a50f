// reduce_by_key/lookback: reduction of the runs of equal keys in a single pass: a segmented scan by decoupled look-back, with the fallback
// of scan/lookback, which carries how many runs have begun and the total of the last one. Where a run begins, its key and the
// total of the run before it are written. Reads each element once and writes one key and one value a run.

__shared__ u32 shared_ticket;

struct TileInput {
  Input input;
  InputValues input_values;
  u32 n;
};

// The aggregate of a full tile, by the very combines that its owner makes: floats get the same bits.
FUNCTION T tile_aggregate(const TileInput &from, u32 tile, Subgroup sg) {
  const Runs runs = load_runs(from.input, from.input_values, tile, from.n, sg.id * sg.width + sg.lane);
  const T inclusive = subgroup_inclusive_scan(fold_runs(runs), sg.lane);
  return tile_totals(subgroup_shuffle_element(inclusive, sg.width - 1u), sg).all;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) reduce_by_key_lookback(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  output_values += params.output_values_offset;
  output_count += params.output_count_offset;

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

  // 2. Each invocation loads ROWS elements that lie together, and folds them.
  const u32 seat = sg.id * sg.width + sg.lane;
  const Runs runs = load_runs(input, input_values, tile, params.n, seat);
  const T sum = fold_runs(runs);

  // 3. Scan the sums within the subgroup.
  const T inclusive = subgroup_inclusive_scan(sum, sg.lane);
  T before = subgroup_shuffle_element_up(inclusive, 1u);
  if (sg.lane == 0u) { before = identity(); }
  const T carry = subgroup_shuffle_element(inclusive, sg.width - 1u);

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  const TileInput from = {input, input_values, params.n};
  const TilePrefix prefix = tile_prefix(from, states, ticket, params, epoch, tile, carry, sg);

  // 5. With the last tile the last run ends, and the count of runs is known.
  if (leads && tile == params.tiles - 1u) {
    const T end = combine(prefix.before, prefix.aggregate);
    store_run_total(output_values, end);
    output_count[0] = run_heads(end);
  }

  // 6. Write the runs that begin here.
  const T start = combine(combine(prefix.before, prefix.subgroups), before);
  store_runs(output, output_values, runs, tile, start, run_heads(prefix.before), run_heads(prefix.aggregate), seat);
}
