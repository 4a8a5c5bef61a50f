// Subgroup operations on words. All lanes of a subgroup call them together.

fn subgroup_min(x: u32) -> u32 {
  return subgroupMin(x);
}

fn subgroup_shuffle_word(x: u32, lane: u32) -> u32 {
  return subgroupShuffle(x, lane);
}

fn subgroup_inclusive_sum(x: u32, lane: u32) -> u32 {
  return subgroupInclusiveAdd(x);
}

