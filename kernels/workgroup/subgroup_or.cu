// workgroup/subgroup_or: marks that lanes set for each other.

// Whether a lane marks this one: each that `marks` does so for the lane `other`. All lanes call it together.
FUNCTION bool subgroup_or(bool marks, u32 other, Subgroup sg) {
  u32 lanes = marks ? 1u << other % 32u : 0u;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  lanes = __reduce_or_sync(0xffffffffu, lanes);
#else
#pragma unroll
  for (u32 delta = 1u; delta < 32u; delta <<= 1u) { lanes |= __shfl_sync(0xffffffffu, lanes, sg.lane ^ delta); }
#endif
  return (lanes >> sg.lane & 1u) == 1u;
}
