// workgroup/subgroup_fold: the elements of a subgroup's first lanes combined in order, by shuffles.

// The combination of lanes 0 to `lanes` - 1, in lane 0. All lanes call it together.
FUNCTION T subgroup_fold(T v, u32 lane, u32 lanes) {
  T folded = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T after = subgroup_shuffle_element_down(folded, delta);
    if (lane + delta < lanes) { folded = combine(folded, after); }
  }
  return folded;
}
