// top_k/pad: indices behind those of the candidates, which stay behind these in order. Writes as many as there is room for, and are not found.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_pad(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  // 1. Each invocation writes one, if it is behind.
  const u32 at = blockIdx.x * WORKGROUP + threadIdx.x;
  if (at < params.room && at >= bound[BOUND_FOUND]) { candidates[at] = 0xffffffffu; }
}
