// literature/reduce/interleaved_modulo: a tree in workgroup memory with interleaved addresses. The ladder's first rung: launched on
// the elements, then on the workgroups' sums, until one is left. Keeps the order.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_interleaved_modulo(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation brings one element into workgroup memory; past the end it is the identity.
  shared_sums[thread] = load_pack(group * WORKGROUP + thread, params.n, identity());
  workgroupBarrier();
  // 2. Every second sum takes in its neighbour, then every fourth, and so on: those whose index the modulo picks.
  for (var stride = 1u; stride < WORKGROUP; stride <<= 1u) {
    if (thread % (2u * stride) == 0u) {
      shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]);
    }
    workgroupBarrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
