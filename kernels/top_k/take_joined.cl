// top_k/take_joined: the workgroup of a segment's first chunk takes what was selected of all its chunks.

Part part_of(__global const u32 *offsets, Params params, u32 group) {
  const Chunks own = chunks_around(offsets, params, group);
  const bool is_first = own.first == group && group < own.past;
  const Part found = {group * params.k, own.past * params.k, own.begin, is_first ? own.segment : NO_SLOT};
  return found;
}

// Where the key at a place of a part is.
u32 index_of(__global const u32 *candidates, u32 place) { return candidates[place]; }
