// block/fold4: the operator over a pack of four elements.

T pack_fold(Pack v) {
  return combine(combine(v.x, v.y), combine(v.z, v.w));
}

// The scan of a pack whose prefix is `seed`.
Pack pack_scan(Pack v, T seed) {
  const T a = combine(seed, v.x);
  const T b = combine(a, v.y);
  const T c = combine(b, v.z);
  Pack r;
  if (EXCLUSIVE == 1u) {
    r.x = seed;
    r.y = a;
    r.z = b;
    r.w = c;
  } else {
    r.x = a;
    r.y = b;
    r.z = c;
    r.w = combine(c, v.w);
  }
  return r;
}
