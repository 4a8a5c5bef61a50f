// literature/scan/lookback_fenced: scan/lookback with the published descriptor, a status beside plain values. WGSL alone: its only
// fence is `storageBarrier`, which the whole workgroup reaches together, so the workgroup looks back in step. OpenCL C and
// CUDA C have literature/scan/state_fenced in scan/lookback. Reads and writes each element once.

alias StateWord = u32;

// Of each tile the aggregate, then of each the inclusive prefix.

// What a turn of the look-back has found, and below it the tile that is missing.
const LOOKBACK_WAIT: u32 = 0u;
const LOOKBACK_MORE: u32 = 1u;
const LOOKBACK_LAST: u32 = 2u;
const LOOKBACK_STUCK: u32 = 3u;

var<workgroup> shared_ticket: u32;
var<workgroup> shared_found: u32;
var<workgroup> shared_prefix: T;

// What a tile has published in this epoch.
fn state_status(epoch: u32, tile: u32) -> u32 {
  let word = atomicLoad(&states[tile]);
  return select(STATUS_NONE, word & 3u, (word >> 2u) == epoch);
}

// The value first, the status after the fence. All invocations call it together, and one publishes.
fn state_publish(leads: bool, epoch: u32, tile: u32, status: u32, value: T) {
  if (leads) { values[select(0u, params.tiles, status == STATUS_PREFIX) + tile] = value; }
  storageBarrier();
  if (leads) { atomicStore(&states[tile], (epoch << 2u) | status); }
}

// Publishes another tile's aggregate, unless it has been published by now.
fn state_help(leads: bool, epoch: u32, tile: u32, aggregate: T) {
  let old = atomicLoad(&states[tile]);
  let missing = leads && !((old >> 2u) == epoch && (old & 3u) != STATUS_NONE);
  if (missing) { values[tile] = aggregate; }
  storageBarrier();
  if (missing) { atomicCompareExchangeWeak(&states[tile], old, (epoch << 2u) | STATUS_AGGREGATE); }
}

@compute @workgroup_size(WORKGROUP)
fn scan_lookback_fenced(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  // 1. Take the next tile. Tickets, not workgroup indices: a tile's predecessors have then started.
  if (id.x + id.y * grid.x >= params.tiles) { return; }
  if (thread == 0u) { shared_ticket = ticket_take(params.tiles); }
  let taken = workgroupUniformLoad(&shared_ticket);
  let tile = taken % TICKETS;
  let epoch = taken / TICKETS;
  let leads = subgroup == 0u && lane == 0u;

  // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
  let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
  var rows: array<Pack, ROWS>;
  load_rows(tile, first, width, &rows);

  // 3. Scan the rows' packs within the subgroup.
  var before: array<T, ROWS>;
  let carry = scan_rows(&rows, &before, lane, width);

  // 4. Combine the subgroups' totals.
  let totals = tile_totals(carry, lane, subgroup, subgroups);

  // 5. Publish the aggregate.
  let publishes = tile_publishes(tile);
  state_publish(leads && publishes, epoch, tile, STATUS_AGGREGATE, totals.all);

  // 6. Look back. If a tile is stuck, the whole workgroup computes its aggregate and goes on.
  var prefix = identity();
  var next = tile;
  var polls = 0u;
  loop {
    // Lane i reads the status i tiles before `next`. Before the first tile lies the initial value.
    var status = STATUS_PREFIX;
    if (subgroup == 0u) {
      if (lane < next) { status = state_status(epoch, next - 1u - lane); }
      let nearest_prefix = subgroup_first(status == STATUS_PREFIX, width);
      let nearest_none = subgroup_first(status == STATUS_NONE, width);
      polls++;
      var turn = select(LOOKBACK_MORE, LOOKBACK_LAST, nearest_prefix < width) | (min(nearest_prefix, width - 1u) << 2u);
      if (nearest_none < nearest_prefix) {
        turn = LOOKBACK_WAIT;
        if (FALLBACK == 1u && polls >= SPIN_LIMIT) { turn = LOOKBACK_STUCK | ((next - 1u - nearest_none) << 2u); }
      }
      if (lane == 0u) { shared_found = turn; }
    }
    let found = workgroupUniformLoad(&shared_found);
    let which = found & 3u;
    if (which == LOOKBACK_WAIT) { continue; }
    if (which == LOOKBACK_STUCK) {
      let missing = tile_aggregate(found >> 2u, lane, width, subgroup, subgroups);
      state_help(leads, epoch, found >> 2u, missing);
      polls = 0u;
      continue;
    }
    // The values were written before the statuses that were read.
    storageBarrier();
    if (subgroup == 0u) {
      var value = params.initial;
      if (lane < next) { value = values[select(0u, params.tiles, status == STATUS_PREFIX) + next - 1u - lane]; }
      prefix = combine(lookback_fold(value, found >> 2u, lane), prefix);
      next -= width;
      polls = 0u;
      if (lane == 0u) { shared_prefix = prefix; }
    }
    if (which == LOOKBACK_LAST) { break; }
  }
  workgroupBarrier();
  prefix = shared_prefix;

  // 7. Publish the inclusive prefix.
  state_publish(leads && publishes, epoch, tile, STATUS_PREFIX, combine(prefix, totals.all));

  // 8. Scan each pack from its prefix and store it.
  let start = combine(prefix, totals.before);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    store_pack(first + k * width, params.n, pack_scan(rows[k], combine(start, before[k])));
  }
}
