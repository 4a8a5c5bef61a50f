// literature/reduce/interleaved_strided: the same tree, worked on by neighbouring invocations, so that whole subgroups are busy or
// idle. Launched until one sum is left. Keeps the order.

__shared__ T shared_sums[WORKGROUP];

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_interleaved_strided(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(input, group * WORKGROUP + thread, params.n, identity());
  workgroup_barrier();
  // 2. The same sums take in the same neighbours, and the first invocations do it: each at its own multiple of the stride.
  for (u32 stride = 1u; stride < WORKGROUP; stride <<= 1u) {
    const u32 at = 2u * stride * thread;
    if (at < WORKGROUP) { shared_sums[at] = combine(shared_sums[at], shared_sums[at + stride]); }
    workgroup_barrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[group] = combine(params.initial, shared_sums[0]); }
}
