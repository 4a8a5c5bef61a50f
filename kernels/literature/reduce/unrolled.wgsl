// literature/reduce/unrolled: as literature/reduce/unroll_last_subgroup, with all other steps written out too. Launched until one sum is left.
// The operator must commute.

var<workgroup> shared_sums: array<T, WORKGROUP>;

// The sums from `stride` on go into those before.
fn reduce_halve(thread: u32, stride: u32) {
  if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
  workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP)
fn reduce_unrolled(
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
  // 2. The same halving without a loop. All sizes are constants: a step that the tree does not have is no code.
  if ((WORKGROUP > 512u) & (SUBGROUP_MIN <= 512u)) { reduce_halve(thread, 512u); }
  if ((WORKGROUP > 256u) & (SUBGROUP_MIN <= 256u)) { reduce_halve(thread, 256u); }
  if ((WORKGROUP > 128u) & (SUBGROUP_MIN <= 128u)) { reduce_halve(thread, 128u); }
  if ((WORKGROUP > 64u) & (SUBGROUP_MIN <= 64u)) { reduce_halve(thread, 64u); }
  if ((WORKGROUP > 32u) & (SUBGROUP_MIN <= 32u)) { reduce_halve(thread, 32u); }
  if ((WORKGROUP > 16u) & (SUBGROUP_MIN <= 16u)) { reduce_halve(thread, 16u); }
  if ((WORKGROUP > 8u) & (SUBGROUP_MIN <= 8u)) { reduce_halve(thread, 8u); }
  if ((WORKGROUP > 4u) & (SUBGROUP_MIN <= 4u)) { reduce_halve(thread, 4u); }
  if ((WORKGROUP > 2u) & (SUBGROUP_MIN <= 2u)) { reduce_halve(thread, 2u); }
  if ((WORKGROUP > 1u) & (SUBGROUP_MIN <= 1u)) { reduce_halve(thread, 1u); }
  // 3. The leading subgroup combines the rest by shuffles, lane to lane: neither workgroup memory nor barriers.
  if (subgroup == 0u) {
    let sum = subgroup_fold(shared_sums[lane], lane, SUBGROUP_MIN);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (lane == 0u) { output[params.output_offset + group] = combine(params.initial, sum); }
  }
}
