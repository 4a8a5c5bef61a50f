// top_k/take_joined: a workgroup takes a segment. Of each chunk that the segment has all of, it takes those that were selected before.

// Places up to `joined` are keys before the first whole chunk. Then come candidates, and from `behind` on the keys after the last one.
struct Part {
  first: u32,
  end: u32,
  segment_begin: u32,
  joined: u32,
  behind: u32,
  chosen: u32,
  shift: u32,
}

// Where a part begins and ends, and where its segment begins.
fn part_of(slot: u32) -> Part {
  let begin = segment_begin(slot, params.n);
  let end = max(segment_end(slot, params.n), begin);
  // The last chunk of all ends with the keys.
  let tail = select(end % params.chunk, 0u, end == params.n);
  let chunk = begin / params.chunk + select(0u, 1u, begin % params.chunk > 0u);
  let past = (end - tail) / params.chunk + select(0u, 1u, (end - tail) % params.chunk > 0u);
  if (past <= chunk) { return Part(begin, end, begin, end, end, 0u, 0u); }
  let joined = chunk * params.chunk;
  let behind = joined + (past - chunk) * params.k;
  return Part(begin, behind + tail, begin, joined, behind, chunk * params.k, end - tail - behind);
}

// Where the key at a place of a part is.
fn index_of(part: Part, place: u32) -> u32 {
  if (place < part.joined) { return place; }
  if (place >= part.behind) { return place + part.shift; }
  return candidates[part.chosen + place - part.joined];
}
