// block/tile_ranks: which of a tile's keys of its digit each key is, in their order, after subgroups have counted by themselves.

extern __shared__ u32 subgroup_counts[];

// Before tile_ranks, with a barrier in between.
FUNCTION void tile_ranks_clear(u32 thread, Subgroup sg) {
#pragma unroll
  for (u32 i = thread; i < sg.count * DIGITS; i += WORKGROUP) { subgroup_counts[i] = 0u; }
}

// `ranks` counts the keys of its digit before each key in its subgroup, subgroup_counts those in the subgroups before, and
// digit_counts all. The last two are there after the next barrier.
FUNCTION void tile_ranks(const Key *keys, u32 place, u32 thread, Subgroup sg, u32 *ranks) {
  u32 *cells = subgroup_counts + sg.id * DIGITS;
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 digit = ordered_digit(keys[k], place);
    const Peers peers = subgroup_peers(digit, sg.lane);
    ranks[k] = subgroup_claim(&cells[digit], peers);
  }
  workgroup_barrier();
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    u32 running = 0u;
#pragma unroll
    for (u32 s = 0u; s < MAX_SUBGROUPS; s++) {
      const u32 count = subgroup_counts[s * DIGITS + digit];
      subgroup_counts[s * DIGITS + digit] = running;
      running += count;
    }
    digit_counts[digit] = running;
  }
}
