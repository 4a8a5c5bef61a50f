// merge_sort/rows: the segment that a place is in, where all segments are rows of one width.

FUNCTION Span all_offsets(const Params &params) {
  const Span all = {0u, 0u};
  return all;
}

FUNCTION u32 offsets_up_to(const u32 *offsets, const Params &params, Span among, u32 place) {
  return 0u;
}

FUNCTION Span segment_of(const u32 *offsets, const Params &params, Span among, u32 place) {
  const u32 begin = place - place % params.width;
  const Span segment = {begin, begin + min(params.width, params.n - begin)};
  return segment;
}
