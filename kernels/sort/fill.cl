// sort/fill: keys of eight bits in order, by how many there are of each. Writes each key once, and reads none.

// Bytes that an invocation writes at once.
#define UNIT 16u

// Where keys begin whose digit is larger.
u32 digit_end(__local const u32 *digit_counts, u32 digit, u32 n) {
  return digit + 1u < DIGITS ? digit_counts[digit + 1u] : n;
}

KERNEL SUBGROUP_KERNEL void sort_fill(ARGUMENTS) {
  __local u32 digit_counts[DIGITS];
  __local u32 digit_sums[MAX_SUBGROUPS];
  __local u32 shared_arrivals;
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  output += params.output_offset;
  // 1. Find where each digit's keys begin.
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    digit_counts[digit] = load_relaxed_u32(&counts[(u8)key_restored(digit)]);
  }
  digit_scan(sg, digit_counts, digit_sums);
  // 2. This workgroup has read the counts.
  u32 arrivals = 0u;
  if (thread == 0u) { arrivals = atomic_add(&counts[DIGITS], 1u) + 1u; }
  // 3. Write what is this invocation's turn, by units that begin at multiples of their size. The output may begin and end within one.
  const u32 lead = (u32)((size_t)output % UNIT);
  output -= lead;
  const u32 past = lead + params.n;
  for (u32 unit = get_group_id(0) * WORKGROUP + thread; unit < (past + UNIT - 1u) / UNIT; unit += params.groups * WORKGROUP) {
    const u32 begin = max(unit * UNIT, lead);
    const u32 end = min(unit * UNIT + UNIT, past);
    // 4. Search for the first key's digit: the last that begins no later.
    u32 digit = 0u;
#pragma unroll
    for (u32 step = DIGITS / 2u; step > 0u; step /= 2u) {
      if (digit_counts[digit + step] <= begin - lead) { digit += step; }
    }
    u32 words[4] = {0u, 0u, 0u, 0u};
    if (digit_end(digit_counts, digit, params.n) >= end - lead) {
      // 5. Most units are of one key.
      const u32 word = (u32)(u8)key_restored(digit) * 0x1010101u;
#pragma unroll
      for (u32 w = 0u; w < 4u; w++) { words[w] = word; }
    } else {
      // 6. In the others keys follow one another.
#pragma unroll
      for (u32 i = 0u; i < UNIT; i++) {
        const u32 at = unit * UNIT + i;
        if (at >= begin && at < end) {
          while (digit_end(digit_counts, digit, params.n) <= at - lead) { digit++; }
          words[i / 4u] |= (u32)(u8)key_restored(digit) << (8u * (i % 4u));
        }
      }
    }
    // 7. Store a unit at once, or what of it is the output's.
    if (end - begin == UNIT) {
      *(__global uint4 *)(output + begin) = (uint4)(words[0], words[1], words[2], words[3]);
    } else {
#pragma unroll
      for (u32 i = 0u; i < UNIT; i++) {
        const u32 at = unit * UNIT + i;
        if (at >= begin && at < end) { output[at] = (StoredKey)(words[i / 4u] >> (8u * (i % 4u))); }
      }
    }
  }
  // 8. The last one that has leaves the scratch clean.
  if (thread == 0u) { shared_arrivals = arrivals; }
  if (workgroup_uniform_load(&shared_arrivals) == params.groups) {
    for (u32 i = thread; i <= DIGITS; i += WORKGROUP) { store_relaxed_u32(&counts[i], 0u); }
  }
}
