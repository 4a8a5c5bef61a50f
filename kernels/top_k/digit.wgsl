// top_k/digit: a step of a radix selection, also for when a sample's bound gave too few candidates or too many. It counts digits of a place,
// of those keys that have the bound's digits at all places above it. The last workgroup to arrive finds the digit of the last key that is
// wanted. The digits of a key's index are places below those of the key. Reads each key once.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_counts: array<atomic<u32>, DIGITS>;
var<workgroup> shared_word: u32;

// Gives the bound the digit of the last key that is wanted.
fn extend_bound(place: u32) {
  var rank = atomicLoad(&bound[BOUND_RANK]);
  if (place == TOP_PLACE) {
    for (var word = 0u; word <= BOUND_INDEX; word++) { atomicStore(&bound[word], 0u); }
    rank = min(params.k, params.n);
  }
  var digit = 0u;
  while (digit < DIGITS - 1u) {
    let count = atomicLoad(&shared_counts[digit]);
    if (rank <= count) { break; }
    rank -= count;
    digit++;
  }
  let bit = bit_of(place);
  if (place < INDEX_PLACES) {
    atomicOr(&bound[BOUND_INDEX], digit << (8u * place));
  } else {
    atomicOr(&bound[bit / 32u], digit << (bit % 32u));
  }
  atomicStore(&bound[BOUND_RANK], rank);
  atomicStore(&bound[BOUND_ARRIVALS], 0u);
  if (place == 0u) {
    atomicStore(&bound[BOUND_IS_EXACT], 1u);
    atomicStore(&bound[BOUND_FOUND], 0u);
  }
}

@compute @workgroup_size(WORKGROUP)
fn top_k_digit(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Is it needed?
  if (thread == 0u) { shared_word = atomicLoad(&bound[BOUND_FOUND]); }
  let found = workgroupUniformLoad(&shared_word);
  if (found >= min(params.k, params.n) && found <= params.room) { return; }
  // 2. Clear this workgroup's counts.
  for (var i = thread; i < DIGITS; i += WORKGROUP) { atomicStore(&shared_counts[i], 0u); }
  var last = ordered_last();
  for (var word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, atomicLoad(&bound[word])); }
  let last_index = atomicLoad(&bound[BOUND_INDEX]);
  workgroupBarrier();
  // 3. Count the tiles that are this workgroup's turn.
  for (var tile = id.x; tile < params.tiles; tile += params.groups) {
    for (var k = 0u; k < ROWS; k++) {
      let index = tile * TILE + k * WORKGROUP + thread;
      if (index < params.n) {
        let key = key_ordered(load_input(params.input_offset + index));
        if (agrees(key, index, last, last_index, params.place)) {
          atomicAdd(&shared_counts[digit_of(key, index, params.place)], 1u);
        }
      }
    }
  }
  workgroupBarrier();
  // 4. Add them to the whole.
  for (var i = thread; i < DIGITS; i += WORKGROUP) {
    let count = atomicLoad(&shared_counts[i]);
    if (count > 0u) { atomicAdd(&bound[BOUND_COUNTS + i], count); }
  }
  storageBarrier();
  workgroupBarrier();
  // 5. The last workgroup goes on, and leaves the counts clear.
  if (thread == 0u) { shared_word = atomicAdd(&bound[BOUND_ARRIVALS], 1u) + 1u; }
  if (workgroupUniformLoad(&shared_word) < params.groups) { return; }
  for (var i = thread; i < DIGITS; i += WORKGROUP) {
    atomicStore(&shared_counts[i], atomicExchange(&bound[BOUND_COUNTS + i], 0u));
  }
  workgroupBarrier();
  if (thread == 0u) { extend_bound(params.place); }
}
