// workgroup/peers32: the lanes of a subgroup that hold the same digit, by a ballot for each of its bits. At most 32 lanes. WGSL
// alone: its subgroups are up to 128 lanes wide, and the planner picks this or workgroup/peers128 by the device. CUDA C and
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
  var peers = subgroupBallot(true).x;
  // unroll
  for (var bit = 0u; bit < DIGIT_BITS; bit++) {
    let mine = (digit & (1u << bit)) != 0u;
    // Those that voted as this lane did.
    peers &= subgroupBallot(mine).x ^ select(0xffffffffu, 0u, mine);
  }
  return Peers(
    countOneBits(peers & ((1u << lane) - 1u)),
    countOneBits(peers),
    firstTrailingBit(peers),
    (peers & (0xfffffffeu << lane)) == 0u,
  );
}
