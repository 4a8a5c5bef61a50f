// block/reduce: a workgroup's elements combined in the order of its invocations, in workgroup memory.

// Every invocation gets the result.
T block_reduce(T v, u32 thread, __local T *reduce_shared) {
  workgroup_barrier();
  reduce_shared[thread] = v;
  for (u32 delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroup_barrier();
    if (thread % (2u * delta) == 0u) {
      reduce_shared[thread] = combine(reduce_shared[thread], reduce_shared[thread + delta]);
    }
  }
  workgroup_barrier();
  return reduce_shared[0];
}
