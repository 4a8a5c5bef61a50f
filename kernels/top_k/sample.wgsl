// top_k/sample: keys from all over the input. Reads and writes SAMPLES keys.

@compute @workgroup_size(WORKGROUP)
fn top_k_sample(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Take a key for each number.
  let number = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (number < SAMPLES && params.n > 0u) {
    store_sample(number, load_input(params.input_offset + sampled_place(number, params.n)));
  }
}
