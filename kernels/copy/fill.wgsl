// copy/fill: clears scratch from within the pass that timestamps measure. OpenCL and CUDA have a call for it.

@compute @workgroup_size(WORKGROUP)
fn fill(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  for (var k = 0u; k < ROWS; k++) {
    let index = (tile * ROWS + k) * WORKGROUP + thread;
    if (index < params.n) { target_words[params.target_offset + index] = params.value; }
  }
}
