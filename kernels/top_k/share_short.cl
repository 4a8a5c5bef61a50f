// top_k/share_short: a workgroup takes a segment alone, unless that has chunks of its own.

Share share_of(__global const u32 *offsets, Params params, u32 group) {
  const Chunks own = chunks_of(offsets, params, group);
  if (own.first < own.past) { return no_share(); }
  const Share found = {group, own.end - own.begin, own.begin, own.end, 0u, 1u, 1u, group};
  return found;
}
