// workgroup/reduce_subgroup: a workgroup's elements combined in the order of its invocations, by shuffles within each subgroup.

// Every invocation gets the result.
FUNCTION T block_reduce(T v, u32 thread) {
  const Subgroup sg = subgroup_of(thread);
  const T total = subgroup_fold(v, sg.lane, sg.width);
  workgroup_barrier();
  return tile_totals(total, sg).all;
}
