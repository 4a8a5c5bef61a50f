// top_k/take_chunk: a workgroup takes a chunk of the keys, if a segment has all of it, and what the segment has beside its chunks.

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
  let last = segment_end(segment, params.n);
  if (begin > first || last < end) { return Part(first, first, begin); }
  // The first chunk takes the keys before it too, and the last one those after it. The last chunk of all ends with the keys.
  let is_last = last < params.n && last - end < params.chunk;
  return Part(select(first, begin, first - begin < params.chunk), select(end, last, is_last), begin);
}

// Where the key at a place of a part is.
fn index_of(part: Part, place: u32) -> u32 { return place; }
