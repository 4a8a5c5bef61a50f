// A subgroup's operations on words, in local memory between barriers: for devices that have no subgroups. Because of the
// barriers all invocations of the workgroup call them together.

#define EMULATED_SUBGROUPS

typedef struct {
  u32 lane;
  u32 width;
  u32 id;
  u32 count;
  __local u32 *words;
} Subgroup;

// Words that an invocation brings to an exchange; workgroup/subgroup_scan_staged has an element's.
#define SUBGROUP_WORDS 1u

// What a workgroup does with its own tile of a run, if there is one. A loop of one turn: in a branch PoCL makes wrong stores.
#define OWN_TILE(tile, own) for (u32 tile = own; tile < params.tiles; tile += TICKETS)
#define SUBGROUP_KERNEL
#define DECLARE_SUBGROUP(sg)                              \
  __local u32 subgroup_words[WORKGROUP * SUBGROUP_WORDS]; \
  const Subgroup sg = {                                    \
    get_local_id(0) % SUBGROUP_MAX, SUBGROUP_MAX, get_local_id(0) / SUBGROUP_MAX, WORKGROUP / SUBGROUP_MAX, subgroup_words}

// The word that another invocation of the workgroup brings.
u32 subgroup_exchange(Subgroup sg, u32 x, u32 from) {
  sg.words[sg.id * sg.width + sg.lane] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  const u32 result = sg.words[from];
  barrier(CLK_LOCAL_MEM_FENCE);
  return result;
}

u32 subgroup_shuffle_word(Subgroup sg, u32 x, u32 lane) {
  return subgroup_exchange(sg, x, sg.id * sg.width + lane);
}

u32 subgroup_shuffle_word_up(Subgroup sg, u32 x, u32 delta) {
  return subgroup_shuffle_word(sg, x, sg.lane >= delta ? sg.lane - delta : sg.lane);
}

u32 subgroup_shuffle_word_down(Subgroup sg, u32 x, u32 delta) {
  return subgroup_shuffle_word(sg, x, sg.lane + delta < sg.width ? sg.lane + delta : sg.lane);
}

// The first lane for which `condition` holds, or the width.
u32 subgroup_first(Subgroup sg, bool condition) {
  sg.words[sg.id * sg.width + sg.lane] = condition ? 1u : 0u;
  barrier(CLK_LOCAL_MEM_FENCE);
  u32 first = 0u;
  while (first < sg.width && sg.words[sg.id * sg.width + first] == 0u) { first++; }
  barrier(CLK_LOCAL_MEM_FENCE);
  return first;
}

// All subgroups do what is the leading one's to do, in step: looking back, each sees what that one has read.
#define LEADING_SUBGROUP(sg) true

u32 subgroup_mirror_word(Subgroup sg, u32 x) {
  return subgroup_exchange(sg, x, sg.lane);
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

// The lanes of a subgroup that hold the same digit.
Peers subgroup_peers(Subgroup sg, u32 digit) {
  sg.words[sg.id * sg.width + sg.lane] = digit;
  barrier(CLK_LOCAL_MEM_FENCE);
  Peers peers = {0u, 0u, sg.width};
  for (u32 i = 0u; i < sg.width; i++) {
    if (sg.words[sg.id * sg.width + i] == digit) {
      peers.before += i < sg.lane ? 1u : 0u;
      peers.count++;
      peers.leader = min(peers.leader, i);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return peers;
}

// Takes places for the peers at a counter of this subgroup's own: this lane's place.
u32 subgroup_claim(Subgroup sg, __local u32 *count, Peers peers) {
  u32 base = 0u;
  if (peers.before == 0u) { base = atomic_add(count, peers.count); }
  return subgroup_shuffle_word(sg, base, peers.leader) + peers.before;
}
