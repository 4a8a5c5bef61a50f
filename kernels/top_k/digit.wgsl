// top_k/digit: a step of a radix selection of each segment, also for when a sample's bound gave too few candidates or too many. It counts
// digits of a place, of those keys that have the bound's digits at all places above it. Of the workgroups that share a segment, the last to
// arrive finds the digit of the last key that is wanted. The digits of a key's index are places below those of the key. Reads each key once
// for each place that it takes, until the bound is known.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_counts: array<atomic<u32>, DIGITS>;
var<workgroup> shared_word: u32;
var<workgroup> shared_share: Share;
// How many keys of the segment are wanted: none if nothing is to be counted.
var<workgroup> shared_wanted: u32;

// Gives the bound at a place of memory the digit of the last of so many keys that are wanted.
fn extend_bound(at: u32, wanted: u32, place: u32) {
  var rank = atomicLoad(&bound[at + BOUND_RANK]);
  if (place == TOP_PLACE) {
    for (var word = 0u; word <= BOUND_INDEX; word++) { atomicStore(&bound[at + word], 0u); }
    rank = wanted;
  }
  var digit = 0u;
  var count = atomicLoad(&shared_counts[0]);
  while (digit < DIGITS - 1u && rank > count) {
    rank -= count;
    digit++;
    count = atomicLoad(&shared_counts[digit]);
  }
  // Where all keys of the digit are wanted, the digits below are the highest.
  let is_known = place == 0u || (GIVES_LAST == 0u && rank == count);
  let low = select(8u * place, bit_of(place) % 32u, place >= INDEX_PLACES);
  let extended = (digit << low) | select(0u, (1u << low) - 1u, is_known);
  let word = select(BOUND_INDEX, bit_of(place) / 32u, place >= INDEX_PLACES);
  atomicOr(&bound[at + word], extended);
  atomicStore(&bound[at + BOUND_RANK], select(rank, 0u, is_known));
  atomicStore(&bound[at + BOUND_ARRIVALS], 0u);
  if (!is_known) { return; }
  if (place >= INDEX_PLACES) {
    for (var below = 0u; below < word; below++) { atomicStore(&bound[at + below], 0xffffffffu); }
    atomicStore(&bound[at + BOUND_INDEX], 0xffffffffu);
  }
  atomicStore(&bound[at + BOUND_IS_EXACT], 1u);
  atomicStore(&bound[at + BOUND_FOUND], 0u);
}

@compute @workgroup_size(WORKGROUP)
fn top_k_digit(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.slots) { return; }
  // 1. Find what this workgroup takes, if there is something.
  if (thread == 0u) { shared_share = share_of(group); }
  let share = workgroupUniformLoad(&shared_share);
  if (share.first == share.end) { return; }
  let at = share.bound * BOUND_WORDS;
  let tiles = (share.end - share.first - 1u) / TILE + 1u;
  // Where a workgroup has a segment alone, it goes on with the places below.
  for (var taken = 0u; taken < params.places; taken++) {
    let place = params.place - taken;
    // 2. Is the place needed?
    if (thread == 0u) {
      let wanted = min(params.k, share.length);
      let found = atomicLoad(&bound[at + BOUND_FOUND]);
      let is_enough = found >= wanted && found <= params.room;
      let is_known = place < TOP_PLACE && atomicLoad(&bound[at + BOUND_RANK]) == 0u;
      shared_wanted = select(wanted, 0u, is_enough || is_known);
    }
    let wanted = workgroupUniformLoad(&shared_wanted);
    if (wanted == 0u) { return; }
    // 3. Clear this workgroup's counts.
    for (var i = thread; i < DIGITS; i += WORKGROUP) { atomicStore(&shared_counts[i], 0u); }
    let last = bound_key(at);
    let last_index = atomicLoad(&bound[at + BOUND_INDEX]);
    workgroupBarrier();
    // 4. Count the tiles that are this workgroup's turn.
    for (var tile = share.turn; tile < tiles; tile += share.turns) {
      for (var k = 0u; k < ROWS; k++) {
        let index = share.first + tile * TILE + k * WORKGROUP + thread;
        if (index < share.end) {
          let key = key_ordered(load_input(params.input_offset + index));
          if (agrees(key, index, last, last_index, place)) {
            atomicAdd(&shared_counts[digit_of(key, index, place)], 1u);
          }
        }
      }
    }
    workgroupBarrier();
    if (BOUND_WORDS > BOUND_COUNTS) {
      // 5. Add them to the whole.
      for (var i = thread; i < DIGITS; i += WORKGROUP) {
        let count = atomicLoad(&shared_counts[i]);
        if (count > 0u) { atomicAdd(&bound[at + BOUND_COUNTS + i], count); }
      }
      storageBarrier();
      workgroupBarrier();
      // 6. The last workgroup goes on, and leaves the counts clear.
      if (thread == 0u) { shared_word = atomicAdd(&bound[at + BOUND_ARRIVALS], 1u) + 1u; }
      if (workgroupUniformLoad(&shared_word) < share.parts) { return; }
      for (var i = thread; i < DIGITS; i += WORKGROUP) {
        atomicStore(&shared_counts[i], atomicExchange(&bound[at + BOUND_COUNTS + i], 0u));
      }
      workgroupBarrier();
    }
    if (thread == 0u) { extend_bound(at, wanted, place); }
    storageBarrier();
    workgroupBarrier();
  }
}
