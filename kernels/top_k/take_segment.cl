// top_k/take_segment: a workgroup takes a segment.

typedef struct {
  u32 first, end, segment_begin;
} Part;

// Where a part begins and ends, and where its segment begins.
Part part_of(__global const u32 *offsets, Params params, u32 slot) {
  const u32 begin = segment_begin(offsets, params, slot, params.n);
  const u32 end = max(segment_end(offsets, params, slot, params.n), begin);
  const Part found = {begin, end, begin};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, Part part, u32 place) { return place; }
