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
  u32 count;
  // The first of them.
  u32 leader;
};

// The lanes of a warp that hold the same digit, by a ballot for each of its bits.
FUNCTION Peers subgroup_peers(u32 digit, u32 lane) {
  u32 peers = 0xffffffffu;
#pragma unroll
  for (u32 bit = 0u; bit < 8u; bit++) {
    const bool mine = (digit >> bit) & 1u;
    const u32 votes = __ballot_sync(0xffffffffu, mine);
    peers &= mine ? votes : ~votes;
  }
  Peers result = {(u32)__popc(peers & ((1u << lane) - 1u)), (u32)__popc(peers), (u32)__ffs(peers) - 1u};
  return result;
}

