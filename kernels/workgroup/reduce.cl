// workgroup/reduce: a workgroup's elements combined in the order of its invocations, in workgroup memory.

// Elements that the workgroup shares.
#define REDUCE_SHARED WORKGROUP
// No subgroups, no attribute for them.
#define SUBGROUP_KERNEL

// An invocation's place in the workgroup.
u32 invocation_place(void) {
  return get_local_id(0);
}

// Every invocation gets the result.
T block_reduce(T v, u32 place, __local T *reduce_shared) {
  workgroup_barrier();
  reduce_shared[place] = v;
  for (u32 delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroup_barrier();
    if (place % (2u * delta) == 0u) {
      reduce_shared[place] = combine(reduce_shared[place], reduce_shared[place + delta]);
    }
  }
  workgroup_barrier();
  return reduce_shared[0];
}
