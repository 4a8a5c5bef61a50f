// sort/place_none: a sort of keys alone.

void place_values(
  __global const u32 *source, __global u32 *target, Params params, Segment segment, u32 seat, u32 stride,
  const u32 *origins
) {
}
