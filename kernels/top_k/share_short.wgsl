// top_k/share_short: a workgroup takes a segment alone, unless that has chunks of its own.

fn share_of(group: u32) -> Share {
  let own = chunks_of(group);
  if (own.first < own.past) { return no_share(); }
  return Share(group, own.end - own.begin, own.begin, own.end, 0u, 1u, 1u, group);
}
