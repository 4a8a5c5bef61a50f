// top_k/take_joined: a workgroup takes a segment. Of each chunk that the segment has all of, it takes those that were selected before.

// Places up to `joined` are keys before the first whole chunk. Then come candidates, and from `behind` on the keys after the last one.
typedef struct {
  u32 first, end, segment_begin, joined, behind, chosen, shift;
} Part;

// Where a part begins and ends, and where its segment begins.
Part part_of(__global const u32 *offsets, Params params, u32 slot) {
  const u32 begin = segment_begin(offsets, params, slot, params.n);
  const u32 end = max(segment_end(offsets, params, slot, params.n), begin);
  // The last chunk of all ends with the keys.
  const u32 tail = end == params.n ? 0u : end % params.chunk;
  const u32 chunk = begin / params.chunk + (begin % params.chunk > 0u ? 1u : 0u);
  const u32 past = (end - tail) / params.chunk + ((end - tail) % params.chunk > 0u ? 1u : 0u);
  if (past <= chunk) {
    const Part whole = {begin, end, begin, end, end, 0u, 0u};
    return whole;
  }
  const u32 joined = chunk * params.chunk;
  const u32 behind = joined + (past - chunk) * params.k;
  const Part found = {begin, behind + tail, begin, joined, behind, chunk * params.k, end - tail - behind};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, Part part, u32 place) {
  if (place < part.joined) { return place; }
  return place < part.behind ? candidates[part.chosen + place - part.joined] : place + part.shift;
}
