// workgroup/subgroup_scan_native: workgroup/subgroup_scan for the sum of one-word scalars, by `subgroupInclusiveAdd`. WGSL alone: it
// has an inclusive sum over a subgroup for every 4-byte scalar. CUDA has no such instruction, and OpenCL's is not in all
// three subgroup preludes.

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
