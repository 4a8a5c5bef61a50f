// top_k/digit: a step of a radix selection, also for when a sample's bound gave too few candidates or too many. It counts digits of a place,
// of those keys that have the bound's digits at all places above it. The last workgroup to arrive finds the digit of the last key that is
// wanted. The digits of a key's index are places below those of the key. Reads each key once.

#define TILE (WORKGROUP * ROWS)

// Gives the bound the digit of the last key that is wanted.
void extend_bound(__global u32 *bound, __local const u32 *counts, u32 wanted, u32 place) {
  u32 rank = bound[BOUND_RANK];
  if (place == TOP_PLACE) {
    for (u32 word = 0u; word <= BOUND_INDEX; word++) { bound[word] = 0u; }
    rank = wanted;
  }
  u32 digit = 0u;
  while (digit < DIGITS - 1u) {
    const u32 count = counts[digit];
    if (rank <= count) { break; }
    rank -= count;
    digit++;
  }
  const u32 bit = bit_of(place);
  if (place < INDEX_PLACES) {
    bound[BOUND_INDEX] |= digit << (8u * place);
  } else {
    bound[bit / 32u] |= digit << (bit % 32u);
  }
  bound[BOUND_RANK] = rank;
  bound[BOUND_ARRIVALS] = 0u;
  if (place == 0u) {
    bound[BOUND_IS_EXACT] = 1u;
    bound[BOUND_FOUND] = 0u;
  }
}

KERNEL void top_k_digit(ARGUMENTS) {
  __local u32 shared_counts[DIGITS];
  __local u32 shared_word;
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  // 1. Is it needed?
  const u32 found = bound[BOUND_FOUND];
  // If not, there are no tiles. PoCL's compiler takes the branch of the first work item for all of them where some barriers are behind a
  // return.
  const u32 tiles = found >= min(params.k, params.n) && found <= params.room ? 0u : params.tiles;
  // 2. Clear this workgroup's counts.
  for (u32 i = thread; i < DIGITS; i += WORKGROUP) { shared_counts[i] = 0u; }
  Key last = ordered_last();
  for (u32 word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, bound[word]); }
  const u32 last_index = bound[BOUND_INDEX];
  workgroup_barrier();
  // 3. Count the tiles that are this workgroup's turn.
  for (u32 tile = get_group_id(0); tile < tiles; tile += params.groups) {
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = tile * TILE + k * WORKGROUP + thread;
      if (index < params.n) {
        const Key key = key_ordered(load_input(input, index));
        if (agrees(key, index, last, last_index, params.place)) {
          atomic_add(&shared_counts[digit_of(key, index, params.place)], 1u);
        }
      }
    }
  }
  workgroup_barrier();
  // 4. Add them to the whole.
  for (u32 i = thread; i < DIGITS; i += WORKGROUP) {
    const u32 count = shared_counts[i];
    if (count > 0u) { atomic_add(&bound[BOUND_COUNTS + i], count); }
  }
  device_fence();
  workgroup_barrier();
  // 5. The last workgroup goes on, and leaves the counts clear.
  if (thread == 0u) { shared_word = tiles > 0u ? atomic_add(&bound[BOUND_ARRIVALS], 1u) + 1u : 0u; }
  const bool is_last = workgroup_uniform_load(&shared_word) == params.groups;
  device_fence();
  if (is_last) {
    for (u32 i = thread; i < DIGITS; i += WORKGROUP) { shared_counts[i] = atomic_xchg(&bound[BOUND_COUNTS + i], 0u); }
  }
  workgroup_barrier();
  if (is_last && thread == 0u) { extend_bound(bound, shared_counts, min(params.k, params.n), params.place); }
}
