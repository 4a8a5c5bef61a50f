// literature/reduce/unroll_last_subgroup: as literature/reduce/first_add_on_load, and the steps that concern one subgroup alone are shuffles.
// Launched until one sum is left. The operator must commute.

KERNEL SUBGROUP_KERNEL void reduce_unroll_last_subgroup(ARGUMENTS) {
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
  // 2. The first half of the sums takes in the second half, until no more are left than the narrowest subgroup has lanes.
  for (u32 stride = WORKGROUP / 2u; stride >= SUBGROUP_MIN; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroup_barrier();
  }
  // 3. The leading subgroup combines the rest by shuffles, lane to lane: neither workgroup memory nor barriers.
  if (LEADING_SUBGROUP(sg)) {
    const T sum = subgroup_fold(sg, shared_sums[sg.lane], SUBGROUP_MIN);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (sg.id == 0u && sg.lane == 0u) { output[group] = combine(params.initial, sum); }
  }
}
