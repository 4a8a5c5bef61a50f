// top_k/take_chunk: a workgroup takes a chunk of the keys, if a segment has all of it, and what the segment has beside its chunks.

typedef struct {
  u32 first, end, segment_begin;
} Part;

// Where a part begins and ends, and where its segment begins.
Part part_of(__global const u32 *offsets, Params params, u32 slot) {
  const u32 first = slot * params.chunk;
  const u32 end = first + min(params.chunk, params.n - first);
  // The last segment that begins no later has the first key.
  u32 segment = 0u;
  u32 past = params.segments;
  while (past - segment > 1u) {
    const u32 middle = segment + (past - segment) / 2u;
    if (segment_begin(offsets, params, middle, params.n) <= first) {
      segment = middle;
    } else {
      past = middle;
    }
  }
  const u32 begin = segment_begin(offsets, params, segment, params.n);
  const u32 last = segment_end(offsets, params, segment, params.n);
  if (begin > first || last < end) {
    const Part nothing = {first, first, begin};
    return nothing;
  }
  // The first chunk takes the keys before it too, and the last one those after it. The last chunk of all ends with the keys.
  const bool is_last = last < params.n && last - end < params.chunk;
  const Part found = {first - begin < params.chunk ? begin : first, is_last ? last : end, begin};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, Part part, u32 place) { return place; }
