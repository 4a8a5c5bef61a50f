// sort/place_none: a sort of keys alone.

FUNCTION void place_values(
  const u32 *source, u32 *target, const Params &params, Segment segment, u32 seat, u32 stride, const u32 *origins
) {
}
