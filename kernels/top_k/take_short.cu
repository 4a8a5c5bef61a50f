// top_k/take_short: a workgroup takes a segment, unless that has chunks of its own.

FUNCTION Part part_of(const u32 *offsets, const Params &params, u32 group) {
  const Chunks own = chunks_of(offsets, params, group);
  const Part found = {own.begin, own.end, own.begin, own.first < own.past ? NO_SLOT : group};
  return found;
}

// Where the key at a place of a part is.
FUNCTION u32 index_of(const u32 *candidates, u32 place) { return place; }
