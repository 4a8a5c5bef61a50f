// top_k/take_joined: a workgroup takes a segment, or, if it has chunks of its own, what was selected of those.

typedef struct {
  u32 first, end, segment_begin;
  bool is_joined;
} Part;

// Where a part begins and ends, and where its segment begins.
FUNCTION Part part_of(const u32 *offsets, const Params &params, u32 slot) {
  const u32 begin = segment_begin(offsets, params, slot, params.n);
  const u32 end = max(segment_end(offsets, params, slot, params.n), begin);
  const u32 chunk = begin / params.chunk + (begin % params.chunk > 0u ? 1u : 0u);
  const u32 past = end / params.chunk + (end == params.n && end % params.chunk > 0u ? 1u : 0u);
  const Part whole = {begin, end, begin, false};
  const Part joined = {chunk * params.k, past * params.k, begin, true};
  return past > chunk ? joined : whole;
}

// Where the key at a place of a part is.
FUNCTION u32 index_of(const u32 *candidates, const Part &part, u32 place) {
  u32 index = place;
  if (part.is_joined) { index = candidates[place]; }
  return index;
}
