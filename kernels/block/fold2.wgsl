// block/fold2: the operator over a pack of two elements.

fn pack_fold(v: Pack) -> T {
  return combine(v.x, v.y);
}

// The scan of a pack whose prefix is `seed`.
fn pack_scan(v: Pack, seed: T) -> Pack {
  let a = combine(seed, v.x);
  if (EXCLUSIVE == 1u) { return Pack(seed, a); }
  return Pack(a, combine(a, v.y));
}
