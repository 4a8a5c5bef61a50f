// workgroup/reduce_subgroup: a workgroup's elements combined in the order of its invocations, by shuffles within each subgroup.

struct Invocation {
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
}

// An invocation's place in the workgroup.
fn invocation_place(at: Invocation) -> u32 {
  return at.subgroup * at.width + at.lane;
}

// Every invocation gets the result.
fn block_reduce(v: T, at: Invocation) -> T {
  let total = subgroup_fold(v, at.lane, at.width);
  workgroupBarrier();
  return tile_totals(total, at.lane, at.subgroup, at.subgroups).all;
}
