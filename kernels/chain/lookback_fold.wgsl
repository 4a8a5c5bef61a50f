// chain/lookback_fold: what a subgroup read of the tiles before one, combined.

// Combines the values of lanes `last` down to 0, the oldest tile on the left; every lane gets the result.
fn lookback_fold(v: T, last: u32, lane: u32) -> T {
  var folded = v;
  for (var delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    let older = subgroup_shuffle_element_down(folded, delta);
    if (lane + delta <= last) { folded = combine(older, folded); }
  }
  return subgroup_shuffle_element(folded, 0u);
}
