// block/fold1: the operator over a pack of one element.

fn pack_fold(v: Pack) -> T {
  return v;
}

// The scan of a pack whose prefix is `seed`.
fn pack_scan(v: Pack, seed: T) -> Pack {
  if (EXCLUSIVE == 1u) { return seed; }
  return combine(seed, v);
}
