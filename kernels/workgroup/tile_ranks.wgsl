// workgroup/tile_ranks: where each of a tile's keys goes in the order of their digits. Subgroups count, and claim places, by themselves.

var<workgroup> subgroup_counts: array<atomic<u32>, MAX_SUBGROUPS * DIGITS>;

// Before tile_count, with a barrier in between.
fn tile_ranks_clear(thread: u32, subgroups: u32) {
  for (var i = thread; i < subgroups * DIGITS; i += WORKGROUP) { atomicStore(&subgroup_counts[i], 0u); }
}

// Counts a tile's keys of each digit. Then digit_counts has where in the tile each digit begins, and subgroup_counts where each
// subgroup's keys of it do. Ends with a barrier.
fn tile_count(
  keys: ptr<function, array<Key, ITEMS>>,
  place: u32,
  thread: u32,
  lane: u32,
  width: u32,
  subgroup: u32,
  subgroups: u32,
) {
  let cells = subgroup * DIGITS;
  // unroll
  for (var k = 0u; k < ITEMS; k++) { atomicAdd(&subgroup_counts[cells + ordered_digit((*keys)[k], place)], 1u); }
  workgroupBarrier();
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    var total = 0u;
    for (var s = 0u; s < subgroups; s++) { total += atomicLoad(&subgroup_counts[s * DIGITS + digit]); }
    digit_counts[digit] = total;
  }
  digit_scan(lane, width, subgroup);
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    var running = digit_counts[digit];
    for (var s = 0u; s < subgroups; s++) {
      let count = atomicLoad(&subgroup_counts[s * DIGITS + digit]);
      atomicStore(&subgroup_counts[s * DIGITS + digit], running);
      running += count;
    }
  }
  workgroupBarrier();
}

// A key's place in the tile. Subgroups ask for their keys' in the keys' order, all lanes at once.
fn tile_position(key: Key, place: u32, lane: u32, subgroup: u32) -> u32 {
  let digit = ordered_digit(key, place);
  return subgroup_claim(subgroup * DIGITS + digit, subgroup_peers(digit, lane));
}
