// sort/downsweep: the last launch of a classic radix pass: sorts a tile by its digits, ROUND keys at a time, with one-bit splits
// (GPU Gems 3, 39.3.3), and scatters it. Needs no subgroups. Reads each key twice, the second time out of
// order and soon, from a cache, and writes it once.

#define ROUND (WORKGROUP * ITEMS)
#define TILE (ROUND * ROUNDS)

KERNEL void sort_downsweep(ARGUMENTS) {
  // A digit above the index in the round of the key that has it.
  __local u32 exchange[ROUND];
  __local u32 zeros_shared[WORKGROUP];
  __local u32 digit_first[RADIX];
  // Where the next key of each digit goes.
  __local u32 digit_next[RADIX];
  const u32 tile = get_group_id(0);
  if (tile >= params.tiles) { return; }
  const u32 thread = get_local_id(0);
  source += params.source_offset;
  target_keys += params.target_offset;
  source_values += params.source_values_offset;
  target_values += params.target_values_offset;
  // 1. Where the tile's first key of each digit goes.
  for (u32 digit = thread; digit < RADIX; digit += WORKGROUP) {
    digit_next[digit] = counts[digit * params.tiles + tile];
  }
  for (u32 round = 0u; round < ROUNDS; round++) {
    const u32 start = tile * TILE + round * ROUND;
    if (start >= params.n) { break; }
    const u32 valid = min(params.n - start, ROUND);
    workgroup_barrier();
    // 2. The round's digits. Places past the end count as the last digit, behind all keys.
    u32 items[ITEMS];
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 index = thread * ITEMS + k;
      const u32 digit = index < valid ? place_digit(load_source(source, start + index), params.place) : RADIX - 1u;
      items[k] = (digit << 16u) | index;
    }
    // 3. A split for each bit of the digit: the zeros go before the ones, in order.
    for (u32 bit = 16u; bit < 16u + DIGIT_BITS; bit++) {
      u32 zeros = 0u;
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) { zeros += 1u - ((items[k] >> bit) & 1u); }
      u32 inclusive = zeros;
      zeros_shared[thread] = zeros;
      for (u32 delta = 1u; delta < WORKGROUP; delta <<= 1u) {
        workgroup_barrier();
        const u32 left = thread >= delta ? zeros_shared[thread - delta] : 0u;
        workgroup_barrier();
        inclusive += left;
        zeros_shared[thread] = inclusive;
      }
      workgroup_barrier();
      const u32 all_zeros = zeros_shared[WORKGROUP - 1u];
      u32 zero = inclusive - zeros;
      u32 one = all_zeros + thread * ITEMS - zero;
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        if (((items[k] >> bit) & 1u) == 0u) {
          exchange[zero] = items[k];
          zero++;
        } else {
          exchange[one] = items[k];
          one++;
        }
      }
      workgroup_barrier();
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) { items[k] = exchange[thread * ITEMS + k]; }
    }
    // 4. Where each digit begins in the round.
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = thread * ITEMS + k;
      const u32 digit = items[k] >> 16u;
      const bool starts = at == 0u || (exchange[at - 1u] >> 16u) != digit;
      if (starts) { digit_first[digit] = at; }
    }
    workgroup_barrier();
    // 5. Scatter: neighbours of one digit go to neighbouring places.
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < valid) {
        const u32 digit = exchange[at] >> 16u;
        const u32 index = start + (exchange[at] & 0xffffu);
        const u32 goal = digit_next[digit] + at - digit_first[digit];
        target_keys[goal] = load_source(source, index);
        // with VALUE_WORDS
        move_value(source_values, target_values, index, goal, index);
      }
    }
    workgroup_barrier();
    // 6. The next round's keys go behind these.
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < valid) {
        const u32 digit = exchange[at] >> 16u;
        const bool ends = at + 1u == valid || (exchange[at + 1u] >> 16u) != digit;
        if (ends) { digit_next[digit] += at + 1u - digit_first[digit]; }
      }
    }
  }
}
