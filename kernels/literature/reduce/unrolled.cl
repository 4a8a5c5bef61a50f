// literature/reduce/unrolled: as literature/reduce/unroll_last_subgroup, with all other steps written out too. Launched until one sum is left.
// The operator must commute.

// The sums from `stride` on go into those before.
void reduce_halve(u32 thread, u32 stride, __local T *shared_sums) {
  if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
  workgroup_barrier();
}

KERNEL SUBGROUP_KERNEL void reduce_unrolled(ARGUMENTS) {
  __local T shared_sums[WORKGROUP];
  const u32 group = get_group_id(0);
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation combines two elements on their way into workgroup memory.
  const u32 first = group * 2u * WORKGROUP + thread;
  const T one = load_pack(input, first, params.n, identity());
  const T other = load_pack(input, first + WORKGROUP, params.n, identity());
  shared_sums[thread] = combine(one, other);
  workgroup_barrier();
  // 2. The same halving without a loop. All sizes are constants: a step that the tree does not have is no code.
  if ((WORKGROUP > 512u) & (SUBGROUP_MIN <= 512u)) { reduce_halve(thread, 512u, shared_sums); }
  if ((WORKGROUP > 256u) & (SUBGROUP_MIN <= 256u)) { reduce_halve(thread, 256u, shared_sums); }
  if ((WORKGROUP > 128u) & (SUBGROUP_MIN <= 128u)) { reduce_halve(thread, 128u, shared_sums); }
  if ((WORKGROUP > 64u) & (SUBGROUP_MIN <= 64u)) { reduce_halve(thread, 64u, shared_sums); }
  if ((WORKGROUP > 32u) & (SUBGROUP_MIN <= 32u)) { reduce_halve(thread, 32u, shared_sums); }
  if ((WORKGROUP > 16u) & (SUBGROUP_MIN <= 16u)) { reduce_halve(thread, 16u, shared_sums); }
  if ((WORKGROUP > 8u) & (SUBGROUP_MIN <= 8u)) { reduce_halve(thread, 8u, shared_sums); }
  if ((WORKGROUP > 4u) & (SUBGROUP_MIN <= 4u)) { reduce_halve(thread, 4u, shared_sums); }
  if ((WORKGROUP > 2u) & (SUBGROUP_MIN <= 2u)) { reduce_halve(thread, 2u, shared_sums); }
  if ((WORKGROUP > 1u) & (SUBGROUP_MIN <= 1u)) { reduce_halve(thread, 1u, shared_sums); }
  // 3. The leading subgroup combines the rest by shuffles, lane to lane: neither workgroup memory nor barriers.
  if (LEADING_SUBGROUP(sg)) {
    const T sum = subgroup_fold(sg, shared_sums[sg.lane], SUBGROUP_MIN);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (sg.id == 0u && sg.lane == 0u) { output[group] = combine(params.initial, sum); }
  }
}
