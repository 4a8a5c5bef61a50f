// literature/reduce/sequential: a tree that halves, so that neighbours keep to banks of their own. Launched until one sum is left.
// The operator must commute.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_sequential(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(group * WORKGROUP + thread, params.n, identity());
  workgroupBarrier();
  // 2. The first half of the sums takes in the second half, again and again: neighbours work on neighbouring words.
  for (var stride = WORKGROUP / 2u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroupBarrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
