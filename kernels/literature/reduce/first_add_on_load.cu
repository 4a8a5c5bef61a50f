// literature/reduce/first_add_on_load: as literature/reduce/sequential, and the first step of the tree is taken while loading: half as many
// workgroups. Launched until one sum is left. The operator must commute.

__shared__ T shared_sums[WORKGROUP];

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_first_add_on_load(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation combines two elements on their way into workgroup memory.
  const u32 first = group * 2u * WORKGROUP + thread;
  const T one = load_pack(input, first, params.n, identity());
  const T other = load_pack(input, first + WORKGROUP, params.n, identity());
  shared_sums[thread] = combine(one, other);
  workgroup_barrier();
  // 2. The first half of the sums takes in the second half, again and again: neighbours work on neighbouring words.
  for (u32 stride = WORKGROUP / 2u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroup_barrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[group] = combine(params.initial, shared_sums[0]); }
}
