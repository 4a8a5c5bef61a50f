// sort/upsweep: the first launch of a classic radix pass: each tile's count of each digit. Reads each key once.

#define TILE (WORKGROUP * ITEMS * ROUNDS)

KERNEL void sort_upsweep(ARGUMENTS) {
  __local u32 shared_counts[RADIX];
  const u32 tile = get_group_id(0);
  if (tile >= params.tiles) { return; }
  const u32 thread = get_local_id(0);
  source += params.source_offset;
  // 1. Clear the counts.
  for (u32 digit = thread; digit < RADIX; digit += WORKGROUP) { shared_counts[digit] = 0u; }
  workgroup_barrier();
  // 2. Count the tile's digits.
  for (u32 k = 0u; k < ITEMS * ROUNDS; k++) {
    const u32 index = tile * TILE + k * WORKGROUP + thread;
    if (index < params.n) { atomic_add(&shared_counts[place_digit(load_source(source, index), params.place)], 1u); }
  }
  workgroup_barrier();
  // 3. Digit by digit, tile by tile: their exclusive scan says where each tile's keys of a digit go.
  for (u32 digit = thread; digit < RADIX; digit += WORKGROUP) {
    counts[digit * params.tiles + tile] = shared_counts[digit];
  }
}
