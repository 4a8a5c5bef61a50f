// literature/reduce/one_invocation: one invocation adds up what the workgroup loaded. Launched until one sum is left.

__shared__ T shared_sums[WORKGROUP];

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_one_invocation(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(input, group * WORKGROUP + thread, params.n, identity());
  workgroup_barrier();
  // 2. The first invocation adds up all sums, from left to right.
  if (thread == 0u) {
    for (u32 i = 1u; i < WORKGROUP; i++) { shared_sums[0] = combine(shared_sums[0], shared_sums[i]); }
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[group] = combine(params.initial, shared_sums[0]); }
}
