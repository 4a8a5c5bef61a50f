// top_k/take_short: a workgroup takes a segment, unless that has chunks of its own.

fn part_of(group: u32) -> Part {
  let own = chunks_of(group);
  return Part(own.begin, own.end, own.begin, select(group, NO_SLOT, own.first < own.past));
}

// Where the key at a place of a part is.
fn index_of(place: u32) -> u32 { return place; }
