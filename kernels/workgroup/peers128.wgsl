// workgroup/peers128: the lanes of a subgroup that hold the same digit, by a ballot for each of its bits. At most 128 lanes.
// WGSL alone: its subgroups are up to 128 lanes wide, and the planner picks this or workgroup/peers32 by the device. CUDA C and
// OpenCL C have `subgroup_peers` in their subgroup preludes, whose width is known.

struct Peers {
  // How many of them come before this lane.
  before: u32,
  count: u32,
  // The first of them.
  leader: u32,
  // Whether this lane is the last of them.
  last: bool,
}

fn subgroup_peers(digit: u32, lane: u32) -> Peers {
  var peers = subgroupBallot(true);
  // unroll
  for (var bit = 0u; bit < DIGIT_BITS; bit++) {
    let mine = (digit & (1u << bit)) != 0u;
    // Those that voted as this lane did.
    peers &= subgroupBallot(mine) ^ vec4<u32>(select(0xffffffffu, 0u, mine));
  }
  // The lanes before this one, word by word.
  let whole = vec4<u32>(lane / 32u) > vec4<u32>(0u, 1u, 2u, 3u);
  let part = vec4<u32>(lane / 32u) == vec4<u32>(0u, 1u, 2u, 3u);
  let below = select(vec4<u32>(0u), vec4<u32>((1u << (lane % 32u)) - 1u), part);
  let earlier = countOneBits(peers & select(below, vec4<u32>(0xffffffffu), whole));
  let all = countOneBits(peers);
  var leader = 96u + firstTrailingBit(peers.w);
  if (peers.z != 0u) { leader = 64u + firstTrailingBit(peers.z); }
  if (peers.y != 0u) { leader = 32u + firstTrailingBit(peers.y); }
  if (peers.x != 0u) { leader = firstTrailingBit(peers.x); }
  let before = earlier.x + earlier.y + earlier.z + earlier.w;
  let count = all.x + all.y + all.z + all.w;
  return Peers(before, count, leader, before + 1u == count);
}
