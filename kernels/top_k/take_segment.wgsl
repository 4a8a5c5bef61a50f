// top_k/take_segment: a workgroup takes a segment.

struct Part {
  first: u32,
  end: u32,
  segment_begin: u32,
}

// Where a part begins and ends, and where its segment begins.
fn part_of(slot: u32) -> Part {
  let begin = segment_begin(slot, params.n);
  return Part(begin, max(segment_end(slot, params.n), begin), begin);
}

// Where the key at a place of a part is.
fn index_of(part: Part, place: u32) -> u32 { return place; }
