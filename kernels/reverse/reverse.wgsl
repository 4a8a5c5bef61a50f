// reverse/reverse: each invocation moves one element to the place that it has from the end.

@compute @workgroup_size(WORKGROUP)
fn reverse(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = (id.x + id.y * grid.x) * WORKGROUP + thread;
  // 1. The first element goes last.
  if (index < params.n) { output[params.output_offset + params.n - 1u - index] = input[params.input_offset + index]; }
}
