// block/fold2: the operator over a pack of two elements.

T pack_fold(Pack v) {
  return combine(v.x, v.y);
}

// The scan of a pack whose prefix is `seed`.
Pack pack_scan(Pack v, T seed) {
  const T a = combine(seed, v.x);
  Pack r;
  r.x = EXCLUSIVE == 1u ? seed : a;
  r.y = EXCLUSIVE == 1u ? a : combine(a, v.y);
  return r;
}
