// top_k/take_short: a workgroup takes a segment, unless that has chunks of its own.

Part part_of(__global const u32 *offsets, Params params, u32 group) {
  const Chunks own = chunks_of(offsets, params, group);
  const Part found = {own.begin, own.end, own.begin, own.first < own.past ? NO_SLOT : group};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, u32 place) { return place; }
