// select/tile_count: the first launch of a selection by counts. Reads each element once, writes one count a tile.

const TILE: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn select_tile_count(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  invocation: Invocation,
) {
  let thread = invocation_place(invocation);
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Each invocation asks the predicate of ROWS elements.
  let first = tile * TILE + thread;
  let last = params.n - 1u;
  var kept = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let index = first + k * WORKGROUP;
    if (index <= last && keeps(index, load_input(params.input_offset + min(index, last)))) { kept += 1u; }
  }
  // 2. The workgroup adds them up. Behind the last tile's count stands none, which the scan turns into the total.
  let total = block_reduce(kept, invocation);
  if (thread == 0u) { sums[tile] = total; }
  if (thread == 0u && tile == params.tiles - 1u) { sums[params.tiles] = identity(); }
}
