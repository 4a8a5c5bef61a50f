// sort/own: sorts the keys that an invocation holds: neighbours change places by turns, but not where their keys are equal.

// Where a bit of `starts` is set, keys stay behind those before them.
FUNCTION void sort_own(Key *keys, u32 *origins, u32 starts) {
#pragma unroll
  for (u32 turn = 0u; turn < ITEMS; turn++) {
#pragma unroll
    for (u32 pair = 0u; pair < NEIGHBOURS; pair++) {
      const u32 k = 2u * pair + turn % 2u;
      const Key left = keys[k];
      const Key right = keys[k + 1u];
      const u32 left_origin = origins[k];
      const bool swap = ordered_before(right, left) & (((starts >> (k + 1u)) & 1u) == 0u);
      keys[k] = swap ? right : left;
      keys[k + 1u] = swap ? left : right;
      origins[k] = swap ? origins[k + 1u] : left_origin;
      origins[k + 1u] = swap ? left_origin : origins[k + 1u];
    }
  }
}
