// workgroup/subgroup_or: marks that lanes set for each other.

// Whether a lane marks this one: each that `marks` does so for the lane `other`. All lanes call it together.
bool subgroup_or(Subgroup sg, bool marks, u32 other) {
  u32 lanes = marks ? 1u << other % 32u : 0u;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) { lanes |= subgroup_shuffle_word(sg, lanes, sg.lane ^ delta); }
  return (lanes >> sg.lane & 1u) == 1u;
}
