// sort/long_counts: counts a digit of the keys of each tile of a long segment. Reads each key once.

__shared__ u32 shared_counts[DIGITS * COPIES];

extern "C" __global__ void __launch_bounds__(WORKGROUP) sort_long_counts(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  source += params.source_offset;
  if (!are_long(long_tiles)) { return; }
  for (u32 number = blockIdx.x; number < 2u * params.cells; number += params.groups) {
    // 1. Find the tile, if there is one.
    const Tile tile = tile_of(long_tiles, params, number);
    if (tile.first >= tile.past) { continue; }
    // 2. Clear the counts. Lanes count in copies of their own: a bank serves one at a time.
    for (u32 i = thread; i < DIGITS * COPIES; i += WORKGROUP) { shared_counts[i] = 0u; }
    workgroup_barrier();
    // 3. Count the keys.
    for (u32 start = tile.first; start < tile.past; start += min(WORKGROUP * ITEMS, tile.past - start)) {
      const u32 last = tile.past - 1u - start;
      StoredKey keys[ITEMS];
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) { keys[k] = load_source(source, start + min(k * WORKGROUP + thread, last)); }
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        if (k * WORKGROUP + thread <= last) {
          atomicAdd(&shared_counts[key_digit(keys[k], params.place) * COPIES + thread % COPIES], 1u);
        }
      }
    }
    workgroup_barrier();
    // 4. Store them, and add them to the sum of the tile's block.
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
      u32 count = 0u;
      for (u32 copy = 0u; copy < COPIES; copy++) { count += shared_counts[digit * COPIES + (copy + thread) % COPIES]; }
      counts[tile.row * DIGITS + digit] = count;
      if (count > 0u) { atomicAdd(&counts[(params.first_sum + tile.row / BLOCK) * DIGITS + digit], count); }
    }
    workgroup_barrier();
  }
}
