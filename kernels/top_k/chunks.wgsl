// top_k/chunks: the chunks of the keys that a segment has all of.

// A segment, and which chunks it has all of: none if `past` is no more than `first`.
struct Chunks {
  segment: u32,
  begin: u32,
  end: u32,
  first: u32,
  past: u32,
}

fn chunks_of(segment: u32) -> Chunks {
  let begin = segment_begin(segment, params.n);
  let end = max(segment_end(segment, params.n), begin);
  let first = begin / params.chunk + select(0u, 1u, begin % params.chunk > 0u);
  // The last chunk of all ends with the keys.
  let past = end / params.chunk + select(0u, 1u, end == params.n && end % params.chunk > 0u);
  return Chunks(segment, begin, end, first, past);
}

// Those of the segment that has the first key of a chunk: the last segment that begins no later.
fn chunks_around(chunk: u32) -> Chunks {
  var segment = 0u;
  var past = params.segments;
  while (past - segment > 1u) {
    let middle = segment + (past - segment) / 2u;
    if (segment_begin(middle, params.n) <= chunk * params.chunk) {
      segment = middle;
    } else {
      past = middle;
    }
  }
  return chunks_of(segment);
}
