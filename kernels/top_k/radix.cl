// top_k/radix: the indices of the first K keys of each segment, as they stand there, by a radix selection in one workgroup: it counts the
// digits of a place, of those keys that have the digits of the last key that is wanted at all places above it. Reads each key once for each
// place that it needs, and once for the indices.

#define MASKS (WORKGROUP / 32u)

// The last key that is wanted, and how many are of those that have its digits; 0 if all are.
typedef struct {
  Key key;
  u32 index, rank;
} Last;

// Gives the last key that is wanted its digit at a place. Those below are the highest. One invocation calls it.
void extend_last(__local Last *last, __local const u32 *counts, u32 place) {
  u32 rank = last->rank;
  u32 digit = 0u;
  u32 count = counts[0];
  while (digit < DIGITS - 1u && rank > count) {
    rank -= count;
    digit++;
    count = counts[digit];
  }
  // No key is left out that has these digits, or one more is needed to tell. The last alone is known only after all places.
  last->rank = GIVES_LAST == 0u && rank == count ? 0u : rank;
  const u32 low = place >= INDEX_PLACES ? bit_of(place) % 32u : 8u * place;
  const u32 below = (1u << low) - 1u;
  if (place < INDEX_PLACES) {
    const u32 above = (place + 1u == INDEX_PLACES ? 0u : last->index) & ~(below | (255u << low));
    last->index = above | (digit << low) | below;
    return;
  }
  const u32 own = bit_of(place) / 32u;
  Key key = last->key;
  for (u32 word = 0u; word < KEY_WORDS; word++) {
    const u32 old = place == TOP_PLACE ? 0u : key_word(key, word);
    if (word == own) {
      key = key_with_word(key, word, (old & ~(below | (255u << low))) | (digit << low) | below);
    } else if (word > own) {
      key = key_with_word(key, word, old);
    }
  }
  last->key = key;
}

KERNEL void top_k_radix(ARGUMENTS) {
  __local u32 shared_counts[DIGITS];
  __local u32 shared_masks[MASKS];
  __local Last shared_last;
  const u32 thread = get_local_id(0);
  const u32 segment = get_group_id(0);
  input += params.input_offset;
  if (segment >= params.slots) { return; }
  // 1. Find the segment. Of no more keys than are wanted none is past the last.
  const u32 begin = segment_begin(offsets, params, segment, params.n);
  const u32 end = max(segment_end(offsets, params, segment, params.n), begin);
  if (thread == 0u) {
    shared_last.key = ordered_last();
    shared_last.index = 0xffffffffu;
    shared_last.rank = GIVES_LAST > 0u ? min(params.k, end - begin) : params.k < end - begin ? params.k : 0u;
  }
  // 2. Count digits, the highest first, until they tell which keys are wanted.
  u32 rank = workgroup_uniform_load(&shared_last.rank);
  for (u32 above = TOP_PLACE + 1u; above > 0u && rank > 0u; above--) {
    const u32 place = above - 1u;
    for (u32 i = thread; i < DIGITS; i += WORKGROUP) { shared_counts[i] = 0u; }
    workgroup_barrier();
    const Key last = shared_last.key;
    const u32 last_index = shared_last.index;
    for (u32 index = begin + thread; index < end; index += WORKGROUP) {
      const Key key = key_ordered(load_input(input, index));
      if (agrees(key, index, last, last_index, place)) { atomic_add(&shared_counts[digit_of(key, index, place)], 1u); }
    }
    workgroup_barrier();
    if (thread == 0u) { extend_last(&shared_last, shared_counts, place); }
    rank = workgroup_uniform_load(&shared_last.rank);
  }
  // 3. Write the index of the last, or of those up to it, row by row.
  const Key last = shared_last.key;
  const u32 last_index = shared_last.index;
  // with GIVES_LAST
  if (thread == 0u) { chosen[segment] = last_index; }
  u32 found = 0u;
  for (u32 first = GIVES_LAST > 0u ? end : begin; first < end; first += min((u32)WORKGROUP, end - first)) {
    if (thread < MASKS) { shared_masks[thread] = 0u; }
    workgroup_barrier();
    const u32 index = first + thread;
    const Key key = key_ordered(load_input(input, min(index, end - 1u)));
    const bool keeps = index < end && (ordered_before(key, last) || (index <= last_index && !ordered_before(last, key)));
    if (keeps) { atomic_or(&shared_masks[thread / 32u], 1u << (thread % 32u)); }
    workgroup_barrier();
    u32 at = found;
    for (u32 i = 0u; i < MASKS; i++) {
      const u32 mask = shared_masks[i];
      found += popcount(mask);
      const u32 before = i < thread / 32u ? mask : i == thread / 32u ? mask & ((1u << (thread % 32u)) - 1u) : 0u;
      at += popcount(before);
    }
    if (keeps) { chosen[segment * params.k + at] = index; }
    workgroup_barrier();
  }
  // 4. Where there are fewer, none stand behind them.
  const u32 most = GIVES_LAST > 0u ? 0u : params.k;
  for (u32 i = found + thread; i < most; i += WORKGROUP) { chosen[segment * params.k + i] = 0xffffffffu; }
}
