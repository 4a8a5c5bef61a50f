// copy/copy: the ceiling that every kernel is measured against. Reads and writes each element once.

const TILE_PACKS: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn copy(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  let first = tile * TILE_PACKS + thread;
  if ((tile + 1u) * TILE_PACKS * PACK <= params.n) {
    // 1. A full tile: all loads before the first store.
    var rows: array<Pack, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      rows[k] = load_input(params.input_offset + first + k * WORKGROUP);
    }
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      output[params.output_offset + first + k * WORKGROUP] = rows[k];
    }
  } else {
    // 2. The last tile.
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let index = first + k * WORKGROUP;
      store_pack(index, params.n, load_pack(index, params.n, T()));
    }
  }
}
