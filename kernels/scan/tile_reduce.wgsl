// scan/tile_reduce: the first launch of reduce-then-scan. Reads each element once, writes one element a tile.

@group(0) @binding(2) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> partials: array<T>;

const TILE_PACKS: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn scan_tile_reduce(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Each invocation folds ROWS packs that lie together.
  let first = tile * TILE_PACKS + thread * ROWS;
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    sum = combine(sum, pack_fold(load_pack(first + k, params.n, identity())));
  }
  // 2. The workgroup combines them.
  let total = block_reduce(sum, thread);
  if (thread == 0u) { partials[tile] = total; }
}
