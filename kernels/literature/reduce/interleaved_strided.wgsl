// literature/reduce/interleaved_strided: the same tree, worked on by neighbouring invocations, so that whole subgroups are busy or
// idle. Launched until one sum is left. Keeps the order.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_interleaved_strided(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(group * WORKGROUP + thread, params.n, identity());
  workgroupBarrier();
  // 2. The same sums take in the same neighbours, and the first invocations do it: each at its own multiple of the stride.
  for (var stride = 1u; stride < WORKGROUP; stride <<= 1u) {
    let at = 2u * stride * thread;
    if (at < WORKGROUP) { shared_sums[at] = combine(shared_sums[at], shared_sums[at + stride]); }
    workgroupBarrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
