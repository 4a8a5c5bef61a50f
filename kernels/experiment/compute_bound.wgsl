// experiment/compute_bound: nothing but arithmetic. A thread takes turns of a remainder, a sine and a division, each turn
// on the one before, and stores one number.

// An angle within a quarter turn of zero, another one every turn.
fn angle(index: u32, turn: u32) -> f32 {
  return f32((index + turn * 4099u) % 12345u) * 0.000254 - 1.57;
}

@compute @workgroup_size(WORKGROUP)
fn experiment_compute_bound(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = (id.x + id.y * grid.x) * WORKGROUP + thread;
  // 1. Every turn halves, about, what the turns before it got wrong: the result does not depend on how a device rounds.
  var value = 0.0;
  for (var turn = 0u; turn < params.turns; turn++) {
    value = sin(value + angle(index, turn)) / (value + 3.0);
  }
  // 2. One number is stored, so that no turn can be left out.
  if (index < params.n) { output[params.output_offset + index] = value; }
}
