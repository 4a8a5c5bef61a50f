// top_k/pad: indices behind those of the candidates, which stay behind these in order. Writes as many as there is room for, and are not found.

KERNEL void top_k_pad(ARGUMENTS) {
  // 1. Each invocation writes one, if it is behind.
  const u32 at = get_global_id(0);
  if (at < params.room && at >= bound[BOUND_FOUND]) { candidates[at] = 0xffffffffu; }
}
