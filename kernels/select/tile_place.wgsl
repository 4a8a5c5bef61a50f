// select/tile_place: the third launch of a selection by counts. Each workgroup brings a tile's elements to their places, from
// what lies before the tile. Reads each element once and writes it at most once.

const TILE: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn select_tile_place(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  // None past the last one. A run of no elements counts none.
  if (tile >= params.tiles) {
    if (thread == 0u && tile == 0u) { output_count[params.output_count_offset] = 0u; }
    return;
  }
  // 1. Load ROWS elements that lie together, and ask the predicate: bit k tells of element k.
  let first = tile * TILE + thread * ROWS;
  let last = params.n - 1u;
  var rows: array<Item, ROWS>;
  var kept = 0u;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    rows[k] = load_input(params.input_offset + min(first + k, last));
    if (first + k <= last && keeps(first + k, rows[k])) { kept |= 1u << k; }
  }
  // 2. The workgroup scans the counts.
  let block = block_exclusive_scan(countOneBits(kept), thread);
  // 3. The count of all that are kept stands behind the last tile's.
  let total = sums[params.tiles];
  if (thread == 0u && tile == 0u) { output_count[params.output_count_offset] = total; }
  // 4. Write each element behind those kept before it, or behind those not kept, which may follow all that are. A predicate that does not
  // answer what it answered when elements were counted misplaces them, but not past the end.
  let rest = select(0u, total, SELECT_REST == 2u);
  var before = combine(sums[tile], block.before);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    if (((kept >> k) & 1u) == 1u) {
      store_kept(before, hold(rows[k], first + k, true));
      before += 1u;
    } else if (SELECT_REST != 0u && first + k <= last) {
      let place = rest + first + k - before;
      if (place < params.n) { store_rest(place, hold(rows[k], first + k, true)); }
    }
  }
}
