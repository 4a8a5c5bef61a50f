// top_k/take_segment: a workgroup takes a segment.

Part part_of(__global const u32 *offsets, Params params, u32 group) {
  const u32 begin = segment_begin(offsets, params, group, params.n);
  const u32 end = max(segment_end(offsets, params, group, params.n), begin);
  const Part found = {begin, end, begin, group};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, u32 place) { return place; }
