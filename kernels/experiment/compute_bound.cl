// experiment/compute_bound: nothing but arithmetic. A thread takes turns of a remainder, a sine and a division, each turn
// on the one before, and stores one number.

// An angle within a quarter turn of zero, another one every turn.
f32 angle(u32 index, u32 turn) {
  return (f32)((index + turn * 4099u) % 12345u) * 0.000254f - 1.57f;
}

KERNEL void experiment_compute_bound(ARGUMENTS) {
  const u32 index = get_group_id(0) * WORKGROUP + get_local_id(0);
  // 1. Every turn halves, about, what the turns before it got wrong: the result does not depend on how a device rounds.
  f32 value = 0.0f;
  for (u32 turn = 0u; turn < params.turns; turn++) {
    value = sin(value + angle(index, turn)) / (value + 3.0f);
  }
  // 2. One number is stored, so that no turn can be left out.
  if (index < params.n) { output[params.output_offset + index] = value; }
}
