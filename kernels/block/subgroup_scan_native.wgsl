// block/subgroup_scan_native: the same for the sum of one-word scalars, which WGSL scans by itself.

fn subgroup_shuffle_element(v: T, lane: u32) -> T {
  return subgroupShuffle(v, lane);
}

fn subgroup_shuffle_element_up(v: T, delta: u32) -> T {
  return subgroupShuffleUp(v, delta);
}

fn subgroup_shuffle_element_down(v: T, delta: u32) -> T {
  return subgroupShuffleDown(v, delta);
}

// Each lane's inclusive scan over the lanes before it.
fn subgroup_inclusive_scan(v: T, lane: u32) -> T {
  return subgroupInclusiveAdd(v);
}
