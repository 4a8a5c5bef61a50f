// literature/reduce/unroll_last_subgroup: as literature/reduce/first_add_on_load, and the steps that concern one subgroup alone are shuffles.
// Launched until one sum is left. The operator must commute.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_unroll_last_subgroup(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation combines two elements on their way into workgroup memory.
  let first = group * 2u * WORKGROUP + thread;
  let one = load_pack(first, params.n, identity());
  let other = load_pack(first + WORKGROUP, params.n, identity());
  shared_sums[thread] = combine(one, other);
  workgroupBarrier();
  // 2. The first half of the sums takes in the second half, until no more are left than the narrowest subgroup has lanes.
  for (var stride = WORKGROUP / 2u; stride >= SUBGROUP_MIN; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroupBarrier();
  }
  // 3. The leading subgroup combines the rest by shuffles, lane to lane: neither workgroup memory nor barriers.
  if (subgroup == 0u) {
    let sum = subgroup_fold(shared_sums[lane], lane, SUBGROUP_MIN);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (lane == 0u) { output[params.output_offset + group] = combine(params.initial, sum); }
  }
}
