// top_k/share_chunks: a workgroup takes a chunk of the keys, if a segment has all of it. The first chunk of a segment takes the keys before
// it too, and the last one those after it. The segment's bound has the number of its first chunk.

fn share_of(group: u32) -> Share {
  let own = chunks_around(group);
  if (group < own.first || group >= own.past) { return no_share(); }
  let first = select(group * params.chunk, own.begin, group == own.first);
  let end = select((group + 1u) * params.chunk, own.end, group + 1u == own.past);
  return Share(own.segment, own.end - own.begin, first, end, 0u, 1u, own.past - own.first, own.first);
}
