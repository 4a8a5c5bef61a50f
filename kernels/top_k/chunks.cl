// top_k/chunks: the chunks of the keys that a segment has all of.

// A segment, and which chunks it has all of: none if `past` is no more than `first`.
typedef struct {
  u32 segment, begin, end, first, past;
} Chunks;

Chunks chunks_of(__global const u32 *offsets, Params params, u32 segment) {
  const u32 begin = segment_begin(offsets, params, segment, params.n);
  const u32 end = max(segment_end(offsets, params, segment, params.n), begin);
  const u32 first = begin / params.chunk + (begin % params.chunk > 0u ? 1u : 0u);
  // The last chunk of all ends with the keys.
  const u32 past = end / params.chunk + (end == params.n && end % params.chunk > 0u ? 1u : 0u);
  const Chunks found = {segment, begin, end, first, past};
  return found;
}

// Those of the segment that has the first key of a chunk: the last segment that begins no later.
Chunks chunks_around(__global const u32 *offsets, Params params, u32 chunk) {
  u32 segment = 0u;
  u32 past = params.segments;
  while (past - segment > 1u) {
    const u32 middle = segment + (past - segment) / 2u;
    if (segment_begin(offsets, params, middle, params.n) <= chunk * params.chunk) {
      segment = middle;
    } else {
      past = middle;
    }
  }
  return chunks_of(offsets, params, segment);
}
