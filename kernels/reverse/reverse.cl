// reverse/reverse: each invocation moves one element to the place that it has from the end.

KERNEL void reverse(ARGUMENTS) {
  const u32 index = get_group_id(0) * WORKGROUP + get_local_id(0);
  // 1. The first element goes last.
  if (index < params.n) { output[params.output_offset + params.n - 1u - index] = input[params.input_offset + index]; }
}
