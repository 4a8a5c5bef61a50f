// workgroup/subgroup_or: marks that lanes set for each other.

// Whether a lane marks this one: each that `marks` does so for the lane `other`. All lanes call it together.
fn subgroup_or(marks: bool, other: u32, lane: u32) -> bool {
  var is_marked = false;
  for (var chunk = 0u; chunk < SUBGROUP_MAX; chunk += 32u) {
    let lanes = subgroupOr(select(0u, 1u << (other % 32u), marks && other / 32u == chunk / 32u));
    if (lane / 32u == chunk / 32u) { is_marked = ((lanes >> (lane % 32u)) & 1u) == 1u; }
  }
  return is_marked;
}
