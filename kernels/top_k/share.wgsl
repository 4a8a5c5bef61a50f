// top_k/share: what a workgroup takes of a segment, alone or beside others.

// Of the tiles of the keys from `first` up to `end` it takes the one at `turn`, and from there on each `turns` further.
struct Share {
  segment: u32,
  // How many keys the segment has.
  length: u32,
  first: u32,
  end: u32,
  turn: u32,
  turns: u32,
  // How many workgroups share the segment, and the number of its bound.
  parts: u32,
  bound: u32,
}

// Nothing is to be taken: there are no keys.
fn no_share() -> Share {
  return Share(0u, 0u, 0u, 0u, 0u, 1u, 1u, 0u);
}
