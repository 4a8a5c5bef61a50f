// top_k/share_tiles: so many workgroups share each segment, and take its tiles by turns.

Share share_of(__global const u32 *offsets, Params params, u32 group) {
  const u32 segment = group / params.parts;
  const u32 begin = segment_begin(offsets, params, segment, params.n);
  const u32 end = max(segment_end(offsets, params, segment, params.n), begin);
  const Share found = {segment, end - begin, begin, end, group % params.parts, params.parts, params.parts, segment};
  return found;
}
