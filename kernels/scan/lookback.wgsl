// scan/lookback: single-pass scan with decoupled look-back (Merrill and Garland 2016), and with the fallback of
// Decoupled Fallback (Smith, Levien and Owens 2025) where a tile waits too long. Reads and writes each element once.

@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> shared_ticket: u32;

@compute @workgroup_size(WORKGROUP)
fn scan_lookback(
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
  let run = taken / TICKETS;

  // 2. Load the tile: each subgroup takes ROWS rows of one pack a lane.
  let first = tile * TILE_PACKS + subgroup * ROWS * width + lane;
  var rows: array<Pack, ROWS>;
  if ((tile + 1u) * TILE <= params.n) {
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = input[params.input_offset + first + k * width]; }
  } else {
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = load_pack(first + k * width, params.n, identity()); }
  }

  // 3. Scan the rows' packs within the subgroup.
  var before: array<T, ROWS>;
  var carry = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let inclusive = subgroup_inclusive_scan(pack_fold(rows[k]), lane);
    let exclusive = subgroup_shuffle_element_up(inclusive, 1u);
    before[k] = carry;
    if (lane > 0u) { before[k] = combine(carry, exclusive); }
    carry = combine(carry, subgroup_shuffle_element(inclusive, width - 1u));
  }

  // 4. Publish the tile's aggregate, look back, and publish its prefix.
  let prefix = tile_prefix(run, tile, carry, lane, width, subgroup, subgroups);

  // 5. Scan each pack from its prefix and store it.
  let start = combine(prefix.before, prefix.subgroups);
  if ((tile + 1u) * TILE <= params.n) {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      output[params.output_offset + first + k * width] = pack_scan(rows[k], combine(start, before[k]));
    }
  } else {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      store_pack(first + k * width, params.n, pack_scan(rows[k], combine(start, before[k])));
    }
  }
}
