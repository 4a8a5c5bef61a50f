// literature/reduce/interleaved_modulo: a tree in workgroup memory with interleaved addresses. The ladder's first rung: launched on
// the elements, then on the workgroups' sums, until one is left. Keeps the order.

KERNEL void reduce_interleaved_modulo(ARGUMENTS) {
  __local T shared_sums[WORKGROUP];
  const u32 group = get_group_id(0);
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(input, group * WORKGROUP + thread, params.n, identity());
  workgroup_barrier();
  // 2. Every second sum takes in its neighbour, then every fourth, and so on: those whose index the modulo picks.
  for (u32 stride = 1u; stride < WORKGROUP; stride <<= 1u) {
    if (thread % (2u * stride) == 0u) {
      shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]);
    }
    workgroup_barrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[group] = combine(params.initial, shared_sums[0]); }
}
