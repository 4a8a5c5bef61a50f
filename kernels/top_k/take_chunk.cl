// top_k/take_chunk: a workgroup takes a chunk of the keys, if a segment has all of it. The first chunk of a segment takes the keys before it
// too, and the last one those after it.

Part part_of(__global const u32 *offsets, Params params, u32 group) {
  const Chunks own = chunks_around(offsets, params, group);
  const bool is_own = own.first <= group && group < own.past;
  const u32 first = group == own.first ? own.begin : group * params.chunk;
  const u32 end = group + 1u >= own.past ? own.end : (group + 1u) * params.chunk;
  const Part found = {first, end, own.begin, is_own ? group : NO_SLOT};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, u32 place) { return place; }
