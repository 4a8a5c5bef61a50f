// workgroup/reduce: a workgroup's elements combined in the order of its invocations, in workgroup memory.

__shared__ T reduce_shared[WORKGROUP];

// Every invocation gets the result.
FUNCTION T block_reduce(T v, u32 thread) {
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
