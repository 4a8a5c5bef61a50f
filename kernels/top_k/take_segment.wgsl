// top_k/take_segment: a workgroup takes a segment.

fn part_of(group: u32) -> Part {
  let begin = segment_begin(group, params.n);
  let end = max(segment_end(group, params.n), begin);
  return Part(begin, end, begin, group);
}

// Where the key at a place of a part is.
fn index_of(place: u32) -> u32 { return place; }
