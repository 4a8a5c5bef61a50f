// A subgroup's operations on words, by OpenCL's own subgroups of a fixed width of at most 32. All lanes call them together.

#pragma OPENCL EXTENSION cl_khr_subgroups : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_ballot : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable

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
#define SUBGROUP_KERNEL __attribute__((intel_reqd_sub_group_size(SUBGROUP_MAX)))
#define DECLARE_SUBGROUP(sg) \
  const Subgroup sg = {get_sub_group_local_id(), get_sub_group_size(), get_sub_group_id(), get_num_sub_groups()}

u32 subgroup_shuffle_word(Subgroup sg, u32 x, u32 lane) {
  return sub_group_shuffle(x, lane);
}

u32 subgroup_shuffle_word_up(Subgroup sg, u32 x, u32 delta) {
  return sub_group_shuffle(x, sg.lane >= delta ? sg.lane - delta : sg.lane);
}

u32 subgroup_shuffle_word_down(Subgroup sg, u32 x, u32 delta) {
  return sub_group_shuffle(x, sg.lane + delta < sg.width ? sg.lane + delta : sg.lane);
}

u32 subgroup_ballot(u32 condition) {
  return sub_group_ballot((int)condition).x;
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
  u32 count;
  // The first of them.
  u32 leader;
} Peers;

// The lanes of a subgroup that hold the same digit, by a ballot for each of its bits.
Peers subgroup_peers(Subgroup sg, u32 digit) {
  u32 peers = subgroup_ballot(1u);
  for (u32 bit = 0u; bit < 8u; bit++) {
    const u32 mine = (digit >> bit) & 1u;
    const u32 votes = subgroup_ballot(mine);
    peers &= mine == 1u ? votes : ~votes;
  }
  const Peers result = {popcount(peers & ((1u << sg.lane) - 1u)), popcount(peers), 31u - clz(peers & -peers)};
  return result;
}

// Takes places for the peers at a counter of this subgroup's own: this lane's place.
u32 subgroup_claim(Subgroup sg, __local u32 *count, Peers peers) {
  u32 base = 0u;
  if (peers.before == 0u) { base = atomic_add(count, peers.count); }
  return subgroup_shuffle_word(sg, base, peers.leader) + peers.before;
}
