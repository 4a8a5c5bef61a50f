// chain/lookback_fold: what a subgroup read of the tiles before one, combined.

// Combines the values of lanes `last` down to 0, the oldest tile on the left; every lane gets the result.
T lookback_fold(Subgroup sg, T v, u32 last) {
  T folded = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T older = subgroup_shuffle_element_down(sg, folded, delta);
    if (sg.lane + delta <= last) { folded = combine(older, folded); }
  }
  return subgroup_shuffle_element(sg, folded, 0u);
}
