// top_k/take_chunk: a workgroup takes a chunk of the keys, if a segment has all of it. The first chunk of a segment takes the keys before it
// too, and the last one those after it.

fn part_of(group: u32) -> Part {
  let own = chunks_around(group);
  let is_own = own.first <= group && group < own.past;
  let first = select(group * params.chunk, own.begin, group == own.first);
  let end = select((group + 1u) * params.chunk, own.end, group + 1u >= own.past);
  return Part(first, end, own.begin, select(NO_SLOT, group, is_own));
}

// Where the key at a place of a part is.
fn index_of(place: u32) -> u32 { return place; }
