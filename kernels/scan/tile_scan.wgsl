// scan/tile_scan: the third launch of reduce-then-scan. Each workgroup scans a tile from its prefix. Reads and writes
// each element once.

@group(0) @binding(2) var<storage, read_write> partials: array<T>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE_PACKS: u32 = WORKGROUP * ROWS;

@compute @workgroup_size(WORKGROUP)
fn scan_tile_scan(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Load ROWS packs that lie together, and fold them.
  let first = tile * TILE_PACKS + thread * ROWS;
  var rows: array<Pack, ROWS>;
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    rows[k] = load_pack(first + k, params.n, identity());
    sum = combine(sum, pack_fold(rows[k]));
  }
  // 2. The workgroup scans the sums.
  let block = block_exclusive_scan(sum, thread);
  // 3. Scan each pack from its prefix and store it.
  var running = combine(partials[tile], block.before);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    store_pack(first + k, params.n, pack_scan(rows[k], running));
    running = combine(running, pack_fold(rows[k]));
  }
}
