// top_k/digit: a step of a radix selection of each segment, also for when a sample's bound gave too few candidates or too many. It counts
// digits of a place, of those keys that have the bound's digits at all places above it. Of the workgroups that share a segment, the last to
// arrive finds the digit of the last key that is wanted. The digits of a key's index are places below those of the key. Reads each key once
// for each place that it takes, until the bound is known.

#define TILE (WORKGROUP * ROWS)

__shared__ u32 shared_counts[DIGITS];
__shared__ u32 shared_word;

// Gives the bound the digit of the last of so many keys that are wanted.
FUNCTION void extend_bound(u32 *bound, const u32 *counts, u32 wanted, u32 place) {
  u32 rank = bound[BOUND_RANK];
  if (place == TOP_PLACE) {
    for (u32 word = 0u; word <= BOUND_INDEX; word++) { bound[word] = 0u; }
    rank = wanted;
  }
  u32 digit = 0u;
  u32 count = counts[0];
  while (digit < DIGITS - 1u && rank > count) {
    rank -= count;
    digit++;
    count = counts[digit];
  }
  // Where all keys of the digit are wanted, the digits below are the highest.
  const bool is_known = place == 0u || (GIVES_LAST == 0u && rank == count);
  const u32 low = place >= INDEX_PLACES ? bit_of(place) % 32u : 8u * place;
  const u32 word = place >= INDEX_PLACES ? bit_of(place) / 32u : BOUND_INDEX;
  bound[word] |= (digit << low) | (is_known ? (1u << low) - 1u : 0u);
  bound[BOUND_RANK] = is_known ? 0u : rank;
  bound[BOUND_ARRIVALS] = 0u;
  if (!is_known) { return; }
  if (place >= INDEX_PLACES) {
    for (u32 below = 0u; below < word; below++) { bound[below] = 0xffffffffu; }
    bound[BOUND_INDEX] = 0xffffffffu;
  }
  bound[BOUND_IS_EXACT] = 1u;
  bound[BOUND_FOUND] = 0u;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_digit(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const u32 group = blockIdx.x;
  if (group >= params.slots) { return; }
  input += params.input_offset;
  // 1. Find what this workgroup takes, if there is something.
  const Share share = share_of(offsets, params, group);
  if (share.first == share.end) { return; }
  bound += (size_t)share.bound * BOUND_WORDS;
  const u32 tiles = (share.end - share.first - 1u) / TILE + 1u;
  // Where a workgroup has a segment alone, it goes on with the places below.
  for (u32 taken = 0u; taken < params.places; taken++) {
    const u32 place = params.place - taken;
    // 2. Is the place needed?
    const u32 wanted = min(params.k, share.length);
    const u32 found = bound[BOUND_FOUND];
    if (found >= wanted && found <= params.room) { return; }
    if (place < TOP_PLACE && bound[BOUND_RANK] == 0u) { return; }
    // 3. Clear this workgroup's counts.
    for (u32 i = thread; i < DIGITS; i += WORKGROUP) { shared_counts[i] = 0u; }
    const Key last = bound_key(bound);
    const u32 last_index = bound[BOUND_INDEX];
    workgroup_barrier();
    // 4. Count the tiles that are this workgroup's turn.
    for (u32 tile = share.turn; tile < tiles; tile += share.turns) {
      for (u32 k = 0u; k < ROWS; k++) {
        const u32 index = share.first + tile * TILE + k * WORKGROUP + thread;
        if (index < share.end) {
          const Key key = key_ordered(load_input(input, index));
          if (agrees(key, index, last, last_index, place)) {
            atomicAdd(&shared_counts[digit_of(key, index, place)], 1u);
          }
        }
      }
    }
    workgroup_barrier();
    if (BOUND_WORDS > BOUND_COUNTS) {
      // 5. Add them to the whole.
      for (u32 i = thread; i < DIGITS; i += WORKGROUP) {
        const u32 count = shared_counts[i];
        if (count > 0u) { atomicAdd(&bound[BOUND_COUNTS + i], count); }
      }
      device_fence();
      workgroup_barrier();
      // 6. The last workgroup goes on, and leaves the counts clear.
      if (thread == 0u) { shared_word = atomicAdd(&bound[BOUND_ARRIVALS], 1u) + 1u; }
      if (workgroup_uniform_load(&shared_word) < share.parts) { return; }
      device_fence();
      for (u32 i = thread; i < DIGITS; i += WORKGROUP) { shared_counts[i] = atomicExch(&bound[BOUND_COUNTS + i], 0u); }
      workgroup_barrier();
    }
    if (thread == 0u) { extend_bound(bound, shared_counts, wanted, place); }
    workgroup_barrier();
  }
}
