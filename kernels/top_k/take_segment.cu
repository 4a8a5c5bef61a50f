// top_k/take_segment: a workgroup takes a segment.

typedef struct {
  u32 first, end, segment_begin;
} Part;

// Where a part begins and ends, and where its segment begins.
FUNCTION Part part_of(const u32 *offsets, const Params &params, u32 slot) {
  const u32 begin = segment_begin(offsets, params, slot, params.n);
  const u32 end = max(segment_end(offsets, params, slot, params.n), begin);
  const Part found = {begin, end, begin};
  return found;
}

// Where the key at a place of a part is.
FUNCTION u32 index_of(const u32 *candidates, const Part &part, u32 place) { return place; }
