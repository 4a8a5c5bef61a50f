// block/tile_ranks: which of a tile's keys of its digit each key is, in their order, after subgroups have counted by themselves.

var<workgroup> subgroup_counts: array<atomic<u32>, MAX_SUBGROUPS * DIGITS>;

// Before tile_ranks, with a barrier in between.
fn tile_ranks_clear(thread: u32, subgroups: u32) {
  for (var i = thread; i < subgroups * DIGITS; i += WORKGROUP) { atomicStore(&subgroup_counts[i], 0u); }
}

// `ranks` counts the keys of its digit before each key in its subgroup, subgroup_counts those in the subgroups before, and
// digit_counts all. The last two are there after the next barrier.
fn tile_ranks(
  keys: ptr<function, array<Key, ITEMS>>,
  place: u32,
  thread: u32,
  lane: u32,
  subgroup: u32,
  subgroups: u32,
  ranks: ptr<function, array<u32, ITEMS>>,
) {
  let cells = subgroup * DIGITS;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let digit = ordered_digit((*keys)[k], place);
    (*ranks)[k] = subgroup_claim(cells + digit, subgroup_peers(digit, lane));
  }
  workgroupBarrier();
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    var running = 0u;
    for (var s = 0u; s < subgroups; s++) {
      let count = atomicLoad(&subgroup_counts[s * DIGITS + digit]);
      atomicStore(&subgroup_counts[s * DIGITS + digit], running);
      running += count;
    }
    digit_counts[digit] = running;
  }
}
