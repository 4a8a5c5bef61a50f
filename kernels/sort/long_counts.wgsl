// sort/long_counts: counts a digit of the keys of each tile of a long segment. Reads each key once.

var<workgroup> shared_counts: array<atomic<u32>, DIGITS * COPIES>;

@compute @workgroup_size(WORKGROUP)
fn sort_long_counts(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  if (!are_long(thread)) { return; }
  for (var number = id.x + id.y * grid.x; number < 2u * params.cells; number += params.groups) {
    // 1. Find the tile, if there is one.
    let tile = tile_of(number, thread);
    if (tile.first >= tile.past) { continue; }
    // 2. Clear the counts. Lanes count in copies of their own: a bank serves one at a time.
    for (var i = thread; i < DIGITS * COPIES; i += WORKGROUP) { atomicStore(&shared_counts[i], 0u); }
    workgroupBarrier();
    // 3. Count the keys.
    for (var start = tile.first; start < tile.past; start += min(WORKGROUP * ITEMS, tile.past - start)) {
      let last = tile.past - 1u - start;
      var keys: array<StoredKey, ITEMS>;
      // unroll
      for (var k = 0u; k < ITEMS; k++) { keys[k] = load_source(params.source_offset + start + min(k * WORKGROUP + thread, last)); }
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        if (k * WORKGROUP + thread <= last) {
          atomicAdd(&shared_counts[key_digit(keys[k], params.place) * COPIES + thread % COPIES], 1u);
        }
      }
    }
    workgroupBarrier();
    // 4. Store them, and add them to the sum of the tile's block.
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
      var count = 0u;
      for (var copy = 0u; copy < COPIES; copy++) { count += atomicLoad(&shared_counts[digit * COPIES + (copy + thread) % COPIES]); }
      atomicStore(&counts[tile.row * DIGITS + digit], count);
      if (count > 0u) { atomicAdd(&counts[(params.first_sum + tile.row / BLOCK) * DIGITS + digit], count); }
    }
    workgroupBarrier();
  }
}
