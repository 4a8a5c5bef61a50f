// segments/rows: where segments begin and end that are rows of one width.

u32 segment_begin(__global const u32 *offsets, Params params, u32 segment, u32 n) {
  return min(segment * params.width, n);
}

u32 segment_end(__global const u32 *offsets, Params params, u32 segment, u32 n) {
  return min((segment + 1u) * params.width, n);
}
