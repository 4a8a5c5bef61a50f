// block/fold1: the operator over a pack of one element.

FUNCTION T pack_fold(Pack v) {
  return v;
}

// The scan of a pack whose prefix is `seed`.
FUNCTION Pack pack_scan(Pack v, T seed) {
  if (EXCLUSIVE == 1u) { return seed; }
  return combine(seed, v);
}
