// element/fold: the operator over a pack of PACK elements.

fn pack_fold(v: Pack) -> T {
  return TREE(v);
}

// The scan of a pack whose prefix is `seed`.
fn pack_scan(v: Pack, seed: T) -> Pack {
  var scanned: Pack;
  var sum = seed;
  // each lane but the last
  { let next = combine(sum, v.LANE); if (EXCLUSIVE == 1u) { scanned.LANE = sum; } else { scanned.LANE = next; } sum = next; }
  // the last lane
  if (EXCLUSIVE == 1u) { scanned.LANE = sum; } else { scanned.LANE = combine(sum, v.LANE); }
  return scanned;
}
