// literature/reduce/first_add_on_load: as literature/reduce/sequential, and the first step of the tree is taken while loading: half as many
// workgroups. Launched until one sum is left. The operator must commute.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_first_add_on_load(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation combines two elements on their way into workgroup memory.
  let first = group * 2u * WORKGROUP + thread;
  let one = load_pack(first, params.n, identity());
  let other = load_pack(first + WORKGROUP, params.n, identity());
  shared_sums[thread] = combine(one, other);
  workgroupBarrier();
  // 2. The first half of the sums takes in the second half, again and again: neighbours work on neighbouring words.
  for (var stride = WORKGROUP / 2u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroupBarrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
