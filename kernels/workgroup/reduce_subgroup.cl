// workgroup/reduce_subgroup: a workgroup's elements combined in the order of its invocations, by shuffles within each subgroup.

// Elements that the workgroup shares.
#define REDUCE_SHARED MAX_SUBGROUPS

// An invocation's place in the workgroup.
u32 invocation_place(void) {
  DECLARE_SUBGROUP(sg);
  return sg.id * sg.width + sg.lane;
}

// Every invocation gets the result.
T block_reduce(T v, u32 place, __local T *reduce_shared) {
  DECLARE_SUBGROUP(sg);
  const T total = subgroup_fold(sg, v, sg.width);
  workgroup_barrier();
  return tile_totals(total, sg, reduce_shared).all;
}
