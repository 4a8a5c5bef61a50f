// block/fold4: the operator over a pack of four elements.

fn pack_fold(v: Pack) -> T {
  return combine(combine(v.x, v.y), combine(v.z, v.w));
}

// The scan of a pack whose prefix is `seed`.
fn pack_scan(v: Pack, seed: T) -> Pack {
  let a = combine(seed, v.x);
  let b = combine(a, v.y);
  let c = combine(b, v.z);
  if (EXCLUSIVE == 1u) { return Pack(seed, a, b, c); }
  return Pack(a, b, c, combine(c, v.w));
}
