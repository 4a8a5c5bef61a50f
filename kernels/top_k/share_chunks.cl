// top_k/share_chunks: a workgroup takes a chunk of the keys, if a segment has all of it. The first chunk of a segment takes the keys before
// it too, and the last one those after it. The segment's bound has the number of its first chunk.

Share share_of(__global const u32 *offsets, Params params, u32 group) {
  const Chunks own = chunks_around(offsets, params, group);
  if (group < own.first || group >= own.past) { return no_share(); }
  const u32 first = group == own.first ? own.begin : group * params.chunk;
  const u32 end = group + 1u == own.past ? own.end : (group + 1u) * params.chunk;
  const Share found = {own.segment, own.end - own.begin, first, end, 0u, 1u, own.past - own.first, own.first};
  return found;
}
