// sort/own: sorts the keys that an invocation holds: neighbours change places by turns, but not where their keys are equal.

// Where a bit of `starts` is set, keys stay behind those before them.
fn sort_own(keys: ptr<function, array<Key, ITEMS>>, origins: ptr<function, array<u32, ITEMS>>, starts: u32) {
  // unroll
  for (var turn = 0u; turn < ITEMS; turn++) {
    // unroll
    for (var pair = 0u; pair < NEIGHBOURS; pair++) {
      let k = 2u * pair + turn % 2u;
      let left = (*keys)[k];
      let right = (*keys)[k + 1u];
      let left_origin = (*origins)[k];
      let right_origin = (*origins)[k + 1u];
      let swap = ordered_before(right, left) & (((starts >> (k + 1u)) & 1u) == 0u);
      (*keys)[k] = select(left, right, swap);
      (*keys)[k + 1u] = select(right, left, swap);
      (*origins)[k] = select(left_origin, right_origin, swap);
      (*origins)[k + 1u] = select(right_origin, left_origin, swap);
    }
  }
}
