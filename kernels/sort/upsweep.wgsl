// sort/upsweep: the first launch of a classic radix pass: each tile's count of each digit. Reads each key once.

const TILE: u32 = WORKGROUP * ITEMS * ROUNDS;

var<workgroup> shared_counts: array<atomic<u32>, RADIX>;

@compute @workgroup_size(WORKGROUP)
fn sort_upsweep(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Clear the counts.
  for (var digit = thread; digit < RADIX; digit += WORKGROUP) { atomicStore(&shared_counts[digit], 0u); }
  workgroupBarrier();
  // 2. Count the tile's digits.
  for (var k = 0u; k < ITEMS * ROUNDS; k++) {
    let index = tile * TILE + k * WORKGROUP + thread;
    if (index < params.n) {
      atomicAdd(&shared_counts[place_digit(load_source(params.source_offset + index), params.place)], 1u);
    }
  }
  workgroupBarrier();
  // 3. Digit by digit, tile by tile: their exclusive scan says where each tile's keys of a digit go.
  for (var digit = thread; digit < RADIX; digit += WORKGROUP) {
    counts[digit * params.tiles + tile] = atomicLoad(&shared_counts[digit]);
  }
}
