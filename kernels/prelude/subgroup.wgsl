// Subgroup operations on words. All lanes of a subgroup call them together.

// The first lane for which `condition` holds, or `width`. By ballot: with subgroupMin of lane numbers one driver's
// compiler (NVIDIA 580, Vulkan) splits the lanes that took different ways before it.
fn subgroup_first(condition: bool, width: u32) -> u32 {
  let lanes = subgroupBallot(condition);
  let first = select(vec4<u32>(width), firstTrailingBit(lanes) + vec4<u32>(0u, 32u, 64u, 96u), lanes != vec4<u32>(0u));
  return min(min(first.x, first.y), min(first.z, first.w));
}

fn subgroup_shuffle_word(x: u32, lane: u32) -> u32 {
  return subgroupShuffle(x, lane);
}

fn subgroup_inclusive_sum(x: u32, lane: u32) -> u32 {
  return subgroupInclusiveAdd(x);
}

