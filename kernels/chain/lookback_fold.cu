// chain/lookback_fold: what a subgroup read of the tiles before one, combined.

// Combines the values of lanes `last` down to 0, the oldest tile on the left; every lane gets the result.
FUNCTION T lookback_fold(T v, u32 last, u32 lane) {
  T folded = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T older = subgroup_shuffle_element_down(folded, delta);
    if (lane + delta <= last) { folded = combine(older, folded); }
  }
  return subgroup_shuffle_element(folded, 0u);
}
