// element/fold: the operator over a pack of PACK elements.

FUNCTION T pack_fold(Pack v) {
  return TREE(v);
}

// The scan of a pack whose prefix is `seed`.
FUNCTION Pack pack_scan(Pack v, T seed) {
  Pack scanned;
  T sum = seed;
  // each lane but the last
  { const T next = combine(sum, v.LANE); scanned.LANE = EXCLUSIVE == 1u ? sum : next; sum = next; }
  // the last lane
  if (EXCLUSIVE == 1u) { scanned.LANE = sum; } else { scanned.LANE = combine(sum, v.LANE); }
  return scanned;
}
