// top_k/sample: keys from all over the input. Reads and writes SAMPLES keys.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_sample(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  input += params.input_offset;
  // 1. Take a key for each number.
  const u32 number = blockIdx.x * WORKGROUP + threadIdx.x;
  if (number < SAMPLES && params.n > 0u) { sample[number] = load_input(input, sampled_place(number, params.n)); }
}
