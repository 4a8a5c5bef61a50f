// reverse/reverse: each invocation moves one element to the place that it has from the end.

extern "C" __global__ void __launch_bounds__(WORKGROUP) reverse(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 index = blockIdx.x * WORKGROUP + threadIdx.x;
  // 1. The first element goes last.
  if (index < params.n) { output[params.output_offset + params.n - 1u - index] = input[params.input_offset + index]; }
}
