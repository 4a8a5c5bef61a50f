// top_k/share_tiles: so many workgroups share each segment, and take its tiles by turns.

fn share_of(group: u32) -> Share {
  let segment = group / params.parts;
  let begin = segment_begin(segment, params.n);
  let end = max(segment_end(segment, params.n), begin);
  return Share(segment, end - begin, begin, end, group % params.parts, params.parts, params.parts, segment);
}
