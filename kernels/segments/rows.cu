// segments/rows: where segments begin and end that are rows of one width.

FUNCTION u32 segment_begin(const u32 *offsets, const Params &params, u32 segment, u32 n) {
  return min(segment * params.width, n);
}

FUNCTION u32 segment_end(const u32 *offsets, const Params &params, u32 segment, u32 n) {
  return min((segment + 1u) * params.width, n);
}
