// A warp's operations on words. All lanes of a warp call them together.

struct Subgroup {
  u32 lane;
  u32 width;
  u32 id;
  u32 count;
};

FUNCTION Subgroup subgroup_of(u32 thread) {
  Subgroup sg = {thread % 32u, 32u, thread / 32u, WORKGROUP / 32u};
  return sg;
}

// The first lane for which `condition` holds, or `width`.
FUNCTION u32 subgroup_first(bool condition, u32 width) {
  const u32 lanes = __ballot_sync(0xffffffffu, condition);
  return lanes == 0u ? width : (u32)__ffs(lanes) - 1u;
}

FUNCTION u32 subgroup_shuffle_word(u32 x, u32 lane) {
  return __shfl_sync(0xffffffffu, x, lane);
}

FUNCTION u32 subgroup_inclusive_sum(u32 x, u32 lane) {
#pragma unroll
  for (u32 delta = 1u; delta < 32u; delta <<= 1u) {
    const u32 before = __shfl_up_sync(0xffffffffu, x, delta);
    x += lane >= delta ? before : 0u;
  }
  return x;
}

struct Peers {
  // How many of them come before this lane.
  u32 before;
  // Whether none comes after it.
  bool last;
};

// The lanes of a warp that hold the same digit, by a ballot for each of its bits. (The compiler would test each bit twice, once to
// vote and once to choose: half of a sort's instructions.)
FUNCTION Peers subgroup_peers(u32 digit, u32 lane) {
  u32 peers = 0xffffffffu;
#pragma unroll
  for (u32 bit = 0u; bit < 8u; bit++) {
    u32 same;
    asm volatile(
      "{ .reg .pred mine;"
      "  and.b32 %0, %1, %2;"
      "  setp.ne.u32 mine, %0, 0;"
      "  vote.sync.ballot.b32 %0, mine, 0xffffffff;"
      "  @!mine not.b32 %0, %0; }"
      : "=&r"(same) : "r"(digit), "r"(1u << bit));
    peers &= same;
  }
  Peers result = {(u32)__popc(peers & ((1u << lane) - 1u)), (peers & (0xfffffffeu << lane)) == 0u};
  return result;
}

// Takes places for the peers at a counter of this subgroup's own: this lane's place.
FUNCTION u32 subgroup_claim(volatile u32 *count, Peers peers) {
  const u32 place = *count + peers.before;
  __syncwarp();
  if (peers.last) { *count = place + 1u; }
  __syncwarp();
  return place;
}

