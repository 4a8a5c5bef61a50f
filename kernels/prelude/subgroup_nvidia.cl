// A warp's operations on words, by inline PTX: NVIDIA's OpenCL has no subgroups. All lanes of a warp call them together.

typedef struct {
  u32 lane;
  u32 width;
  u32 id;
  u32 count;
} Subgroup;

// What a workgroup does with its own tile of a run, if there is one.
#define OWN_TILE(tile, own) \
  const u32 tile = own;     \
  if (tile * TILE < params.n)
#define SUBGROUP_KERNEL
#define DECLARE_SUBGROUP(sg) \
  const Subgroup sg = {get_local_id(0) % 32u, 32u, get_local_id(0) / 32u, WORKGROUP / 32u}

u32 subgroup_shuffle_word(Subgroup sg, u32 x, u32 lane) {
  u32 result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(x), "r"(lane));
  return result;
}

u32 subgroup_shuffle_word_up(Subgroup sg, u32 x, u32 delta) {
  u32 result;
  asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;" : "=r"(result) : "r"(x), "r"(delta));
  return result;
}

u32 subgroup_shuffle_word_down(Subgroup sg, u32 x, u32 delta) {
  u32 result;
  asm volatile("shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(x), "r"(delta));
  return result;
}

u32 subgroup_ballot(u32 condition) {
  u32 lanes;
  asm volatile(
    "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(lanes) : "r"(condition));
  return lanes;
}

// The first lane for which `condition` holds, or the width.
u32 subgroup_first(Subgroup sg, bool condition) {
  const u32 lanes = subgroup_ballot(condition ? 1u : 0u);
  return lanes == 0u ? sg.width : 31u - clz(lanes & -lanes);
}

// The leading subgroup does alone what is its to do, such as looking back.
#define LEADING_SUBGROUP(sg) ((sg).id == 0u)

u32 subgroup_mirror_word(Subgroup sg, u32 x) {
  return x;
}

u32 subgroup_inclusive_sum(Subgroup sg, u32 x) {
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const u32 before = subgroup_shuffle_word_up(sg, x, delta);
    x += sg.lane >= delta ? before : 0u;
  }
  return x;
}

typedef struct {
  // How many of them come before this lane.
  u32 before;
  // Whether none comes after it.
  bool last;
} Peers;

// The lanes of a warp that hold the same digit, by a ballot for each of its bits. (The compiler would test each bit twice, once to
// vote and once to choose: half of a sort's instructions.)
Peers subgroup_peers(Subgroup sg, u32 digit) {
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
  const Peers result = {popcount(peers & ((1u << sg.lane) - 1u)), (peers & (0xfffffffeu << sg.lane)) == 0u};
  return result;
}

// Takes places for the peers at a counter of this subgroup's own: this lane's place.
u32 subgroup_claim(Subgroup sg, volatile __local u32 *count, Peers peers) {
  const u32 place = *count + peers.before;
  asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
  if (peers.last) { *count = place + 1u; }
  asm volatile("bar.warp.sync 0xffffffff;" : : : "memory");
  return place;
}

