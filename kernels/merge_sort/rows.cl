// merge_sort/rows: the segment that a place is in, where all segments are rows of one width.

Span all_offsets(Params params) {
  const Span all = {0u, 0u};
  return all;
}

u32 offsets_up_to(__global const u32 *offsets, Params params, Span among, u32 place) {
  return 0u;
}

Span segment_of(__global const u32 *offsets, Params params, Span among, u32 place) {
  const u32 begin = place - place % params.width;
  const Span segment = {begin, begin + min(params.width, params.n - begin)};
  return segment;
}
