// block/peers32: the lanes of a subgroup that hold the same digit, by a ballot for each of its bits. At most 32 lanes.

struct Peers {
  // How many of them come before this lane.
  before: u32,
  count: u32,
  // The first of them.
  leader: u32,
}

fn subgroup_peers(digit: u32, lane: u32) -> Peers {
  var peers = subgroupBallot(true).x;
  // unroll
  for (var bit = 0u; bit < DIGIT_BITS; bit++) {
    let mine = (digit >> bit) & 1u;
    let votes = subgroupBallot(mine == 1u).x;
    // Those that voted as this lane did.
    peers &= votes ^ (mine - 1u);
  }
  return Peers(countOneBits(peers & ((1u << lane) - 1u)), countOneBits(peers), firstTrailingBit(peers));
}
