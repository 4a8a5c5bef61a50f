// workgroup/reduce: a workgroup's elements combined in the order of its invocations, in workgroup memory.

var<workgroup> reduce_shared: array<T, WORKGROUP>;

struct Invocation {
  @builtin(local_invocation_index) place: u32,
}

// An invocation's place in the workgroup.
fn invocation_place(at: Invocation) -> u32 {
  return at.place;
}

// Every invocation gets the result.
fn block_reduce(v: T, at: Invocation) -> T {
  let thread = at.place;
  workgroupBarrier();
  reduce_shared[thread] = v;
  for (var delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroupBarrier();
    if (thread % (2u * delta) == 0u) {
      reduce_shared[thread] = combine(reduce_shared[thread], reduce_shared[thread + delta]);
    }
  }
  workgroupBarrier();
  return reduce_shared[0];
}
