// top_k/take_joined: a workgroup takes a segment, or, if it has chunks of its own, what was selected of those.

struct Part {
  first: u32,
  end: u32,
  segment_begin: u32,
  is_joined: bool,
}

// Where a part begins and ends, and where its segment begins.
fn part_of(slot: u32) -> Part {
  let begin = segment_begin(slot, params.n);
  let end = max(segment_end(slot, params.n), begin);
  let chunk = begin / params.chunk + select(0u, 1u, begin % params.chunk > 0u);
  let past = end / params.chunk + select(0u, 1u, end == params.n && end % params.chunk > 0u);
  if (past <= chunk) { return Part(begin, end, begin, false); }
  return Part(chunk * params.k, past * params.k, begin, true);
}

// Where the key at a place of a part is.
fn index_of(part: Part, place: u32) -> u32 {
  var index = place;
  if (part.is_joined) { index = candidates[place]; }
  return index;
}
