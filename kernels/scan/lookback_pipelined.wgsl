// scan/lookback_pipelined: single-pass scan by look-ahead where no hardware copies tiles. A workgroup stays, and holds two tiles in
// its registers: the next one's aggregate is published before it looks back for the one in hand, so that hardly a tile waits for
// another's. Reads and writes each element once.

var<workgroup> shared_ticket: u32;

@compute @workgroup_size(WORKGROUP)
fn scan_lookback_pipelined(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) reported_width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) reported_subgroups: u32,
) {
  if (id.x + id.y * grid.x >= params.groups) { return; }
  // Where subgroups are all of one width, a compiler that knows it needs fewer registers.
  let width = select(reported_width, SUBGROUP_MAX, SUBGROUP_MIN == SUBGROUP_MAX);
  let subgroups = select(reported_subgroups, MAX_SUBGROUPS, SUBGROUP_MIN == SUBGROUP_MAX);
  let seat = subgroup * ROWS * width + lane;
  // The tile in hand, once there is one.
  var tile = params.tiles;
  var aggregate = identity();
  var subgroup_prefix = identity();
  var publishes = false;
  var rows: array<Pack, ROWS>;
  var before: array<T, ROWS>;
  loop {
    // 1. Take the next tile. Every workgroup takes one ticket past the last tile's.
    if (thread == 0u) { shared_ticket = ticket_take(params.tiles + params.groups); }
    let taken = workgroupUniformLoad(&shared_ticket);
    let next = taken % TICKETS;
    let epoch = taken / TICKETS;
    var announced = Announced(TileTotals(identity(), identity()), false);
    var next_rows: array<Pack, ROWS>;
    var next_before: array<T, ROWS>;
    if (next < params.tiles) {
      // 2. Load it.
      let first = next * TILE_PACKS + seat;
      if ((next + 1u) * TILE <= params.n) {
        // unroll
        for (var k = 0u; k < ROWS; k++) { next_rows[k] = load_input(params.input_offset + first + k * width); }
      } else {
        // unroll
        for (var k = 0u; k < ROWS; k++) { next_rows[k] = load_pack(first + k * width, params.n, identity()); }
      }

      // 3. Scan its rows' packs within the subgroup, and publish its aggregate.
      let carry = scan_rows(&next_rows, &next_before, lane, width);
      announced = tile_announce(epoch, next, carry, lane, subgroup, subgroups);
      // Nobody asks for the last tile's state, and the prefix that belongs to it may not be written in this epoch.
      if (thread == 0u && next == params.tiles - 1u) { state_blank(epoch, next); }
    }
    if (tile < params.tiles) {
      // 4. Look back for the tile in hand, and publish its prefix.
      let prefix = tile_look_back(epoch, tile, aggregate, publishes, lane, width, subgroup, subgroups);

      // 5. Scan each of its packs from its prefix and store it.
      let start = combine(prefix, subgroup_prefix);
      let first = tile * TILE_PACKS + seat;
      if ((tile + 1u) * TILE <= params.n) {
        // unroll
        for (var k = 0u; k < ROWS; k++) {
          store_output(params.output_offset + first + k * width, pack_scan(rows[k], combine(start, before[k])));
        }
      } else {
        // unroll
        for (var k = 0u; k < ROWS; k++) {
          store_pack(first + k * width, params.n, pack_scan(rows[k], combine(start, before[k])));
        }
      }
    }
    if (next >= params.tiles) {
      // States that a run of more elements uses.
      for (var spare = next + thread * params.groups; spare < params.slots; spare += WORKGROUP * params.groups) {
        state_blank(epoch, spare);
      }
      break;
    }

    // 6. The next tile is the one in hand.
    tile = next;
    aggregate = announced.totals.all;
    subgroup_prefix = announced.totals.before;
    publishes = announced.publishes;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      rows[k] = next_rows[k];
      before[k] = next_before[k];
    }
  }
}
