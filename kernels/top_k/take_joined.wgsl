// top_k/take_joined: the workgroup of a segment's first chunk takes what was selected of all its chunks.

fn part_of(group: u32) -> Part {
  let own = chunks_around(group);
  let is_first = own.first == group && group < own.past;
  return Part(group * params.k, own.past * params.k, own.begin, select(NO_SLOT, own.segment, is_first));
}

// Where the key at a place of a part is.
fn index_of(place: u32) -> u32 { return candidates[place]; }
