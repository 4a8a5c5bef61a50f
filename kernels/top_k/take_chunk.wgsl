// top_k/take_chunk: a workgroup takes a chunk of the keys, if a segment has all of it.

struct Part {
  first: u32,
  end: u32,
  segment_begin: u32,
}

// Where a part begins and ends, and where its segment begins.
fn part_of(slot: u32) -> Part {
  let first = slot * params.chunk;
  let end = first + min(params.chunk, params.n - first);
  // The last segment that begins no later has the first key.
  var segment = 0u;
  var past = params.segments;
  while (past - segment > 1u) {
    let middle = segment + (past - segment) / 2u;
    if (segment_begin(middle, params.n) <= first) {
      segment = middle;
    } else {
      past = middle;
    }
  }
  let begin = segment_begin(segment, params.n);
  let has_all = begin <= first && segment_end(segment, params.n) >= end;
  return Part(first, select(first, end, has_all), begin);
}

// Where the key at a place of a part is.
fn index_of(part: Part, place: u32) -> u32 { return place; }
