// workgroup/subgroup_fold: the elements of a subgroup's first lanes combined in order, by shuffles.

// The combination of lanes 0 to `lanes` - 1, in lane 0. All lanes call it together.
fn subgroup_fold(v: T, lane: u32, lanes: u32) -> T {
  var folded = v;
  for (var delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    let after = subgroup_shuffle_element_down(folded, delta);
    if (lane + delta < lanes) { folded = combine(folded, after); }
  }
  return folded;
}
