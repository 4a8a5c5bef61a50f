// top_k/sample: keys from all over the input. Reads and writes SAMPLES keys.

KERNEL void top_k_sample(ARGUMENTS) {
  input += params.input_offset;
  // 1. Take a key for each number.
  const u32 number = get_global_id(0);
  if (number < SAMPLES && params.n > 0u) { sample[number] = load_input(input, sampled_place(number, params.n)); }
}
