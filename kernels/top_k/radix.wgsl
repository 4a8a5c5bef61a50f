// top_k/radix: the indices of the first K keys of each segment, as they stand there, by a radix selection in one workgroup: it counts the
// digits of a place, of those keys that have the digits of the last key that is wanted at all places above it. Reads each key once for each
// place that it needs, and once for the indices.

const MASKS: u32 = WORKGROUP / 32u;

var<workgroup> shared_counts: array<atomic<u32>, DIGITS>;
var<workgroup> shared_masks: array<atomic<u32>, MASKS>;
var<workgroup> shared_last: Key;
var<workgroup> shared_last_index: u32;
var<workgroup> shared_rank: u32;
var<workgroup> shared_segment: vec2<u32>;

// Gives the last key that is wanted its digit at a place. Those below are the highest. One invocation calls it.
fn extend_last(place: u32) {
  var rank = shared_rank;
  var digit = 0u;
  var count = atomicLoad(&shared_counts[0]);
  while (digit < DIGITS - 1u && rank > count) {
    rank -= count;
    digit++;
    count = atomicLoad(&shared_counts[digit]);
  }
  // No key is left out that has these digits, or one more is needed to tell. The last alone is known only after all places.
  shared_rank = select(rank, 0u, GIVES_LAST == 0u && rank == count);
  let low = select(8u * place, bit_of(place) % 32u, place >= INDEX_PLACES);
  let below = (1u << low) - 1u;
  if (place < INDEX_PLACES) {
    let above = select(shared_last_index, 0u, place + 1u == INDEX_PLACES) & ~(below | (255u << low));
    shared_last_index = above | (digit << low) | below;
    return;
  }
  let own = bit_of(place) / 32u;
  for (var word = 0u; word < KEY_WORDS; word++) {
    let old = select(key_word(shared_last, word), 0u, place == TOP_PLACE);
    if (word == own) {
      shared_last = key_with_word(shared_last, word, (old & ~(below | (255u << low))) | (digit << low) | below);
    } else if (word > own) {
      shared_last = key_with_word(shared_last, word, old);
    }
  }
}

@compute @workgroup_size(WORKGROUP)
fn top_k_radix(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let segment = id.x + id.y * grid.x;
  if (segment >= params.slots) { return; }
  // 1. Find the segment. Of no more keys than are wanted none is past the last.
  if (thread == 0u) {
    let begin = segment_begin(segment, params.n);
    let length = max(segment_end(segment, params.n), begin) - begin;
    shared_segment = vec2(begin, begin + length);
    shared_last = ordered_last();
    shared_last_index = 0xffffffffu;
    shared_rank = select(select(0u, params.k, params.k < length), min(params.k, length), GIVES_LAST > 0u);
  }
  let bounds = workgroupUniformLoad(&shared_segment);
  // 2. Count digits, the highest first, until they tell which keys are wanted.
  var rank = workgroupUniformLoad(&shared_rank);
  for (var above = TOP_PLACE + 1u; above > 0u && rank > 0u; above--) {
    let place = above - 1u;
    for (var i = thread; i < DIGITS; i += WORKGROUP) { atomicStore(&shared_counts[i], 0u); }
    workgroupBarrier();
    let last = shared_last;
    let last_index = shared_last_index;
    for (var index = bounds.x + thread; index < bounds.y; index += WORKGROUP) {
      let key = key_ordered(load_input(params.input_offset + index));
      if (agrees(key, index, last, last_index, place)) { atomicAdd(&shared_counts[digit_of(key, index, place)], 1u); }
    }
    workgroupBarrier();
    if (thread == 0u) { extend_last(place); }
    rank = workgroupUniformLoad(&shared_rank);
  }
  // 3. Write the index of the last, or of those up to it, row by row.
  let last = shared_last;
  let last_index = shared_last_index;
  // with GIVES_LAST
  if (thread == 0u) { chosen[segment] = last_index; }
  var found = 0u;
  for (var first = select(bounds.x, bounds.y, GIVES_LAST > 0u); first < bounds.y; first += min(WORKGROUP, bounds.y - first)) {
    if (thread < MASKS) { atomicStore(&shared_masks[thread], 0u); }
    workgroupBarrier();
    let index = first + thread;
    let key = key_ordered(load_input(params.input_offset + min(index, bounds.y - 1u)));
    let keeps = index < bounds.y && (ordered_before(key, last) || (index <= last_index && !ordered_before(last, key)));
    if (keeps) { atomicOr(&shared_masks[thread / 32u], 1u << (thread % 32u)); }
    workgroupBarrier();
    var at = found;
    for (var i = 0u; i < MASKS; i++) {
      let mask = atomicLoad(&shared_masks[i]);
      found += countOneBits(mask);
      at += countOneBits(select(select(0u, mask, i < thread / 32u), mask & ((1u << (thread % 32u)) - 1u), i == thread / 32u));
    }
    if (keeps) { chosen[segment * params.k + at] = index; }
    workgroupBarrier();
  }
  // 4. Where there are fewer, none stand behind them.
  let most = select(params.k, 0u, GIVES_LAST > 0u);
  for (var i = found + thread; i < most; i += WORKGROUP) { chosen[segment * params.k + i] = 0xffffffffu; }
}
