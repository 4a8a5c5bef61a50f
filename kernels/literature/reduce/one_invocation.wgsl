// literature/reduce/one_invocation: one invocation adds up what the workgroup loaded. Launched until one sum is left.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_one_invocation(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(group * WORKGROUP + thread, params.n, identity());
  workgroupBarrier();
  // 2. The first invocation adds up all sums, from left to right.
  if (thread == 0u) {
    for (var i = 1u; i < WORKGROUP; i++) { shared_sums[0] = combine(shared_sums[0], shared_sums[i]); }
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
