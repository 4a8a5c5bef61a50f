// workgroup/tile_ranks: where each of a tile's keys goes in the order of their digits. Subgroups count, and claim places, by themselves.

// Before tile_count, with a barrier in between.
void tile_ranks_clear(u32 thread, Subgroup sg, __local u32 *subgroup_counts) {
  for (u32 i = thread; i < sg.count * DIGITS; i += WORKGROUP) { subgroup_counts[i] = 0u; }
}

// Counts a tile's keys of each digit. Then digit_counts has where in the tile each digit begins, and subgroup_counts where each
// subgroup's keys of it do. Ends with a barrier.
void tile_count(
  const Key *keys, u32 place, u32 thread, Subgroup sg, __local u32 *subgroup_counts, __local u32 *digit_counts,
  __local u32 *digit_sums
) {
  __local u32 *cells = subgroup_counts + sg.id * DIGITS;
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { atomic_add(&cells[ordered_digit(keys[k], place)], 1u); }
  workgroup_barrier();
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    u32 total = 0u;
    for (u32 s = 0u; s < sg.count; s++) { total += subgroup_counts[s * DIGITS + digit]; }
    digit_counts[digit] = total;
  }
  digit_scan(sg, digit_counts, digit_sums);
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    u32 running = digit_counts[digit];
    for (u32 s = 0u; s < sg.count; s++) {
      const u32 count = subgroup_counts[s * DIGITS + digit];
      subgroup_counts[s * DIGITS + digit] = running;
      running += count;
    }
  }
  workgroup_barrier();
}

// A key's place in the tile. Subgroups ask for their keys' in the keys' order, all lanes at once.
u32 tile_position(Key key, u32 place, Subgroup sg, __local u32 *subgroup_counts) {
  const u32 digit = ordered_digit(key, place);
  const Peers peers = subgroup_peers(sg, digit);
  return subgroup_claim(sg, &subgroup_counts[sg.id * DIGITS + digit], peers);
}
