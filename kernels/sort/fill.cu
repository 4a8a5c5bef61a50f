// sort/fill: keys of eight bits in order, by how many there are of each. Writes each key once, and reads none.

// Bytes that an invocation writes at once.
#define UNIT 16u

__shared__ u32 shared_arrivals;

// Where keys begin whose digit is larger.
FUNCTION u32 digit_end(u32 digit, u32 n) {
  return digit + 1u < DIGITS ? digit_counts[digit + 1u] : n;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP) sort_fill(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  output += params.output_offset;
  // 1. Find where each digit's keys begin.
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    digit_counts[digit] = load_relaxed(&counts[(u8)key_restored(digit)]);
  }
  digit_scan(sg);
  // 2. This workgroup has read the counts.
  u32 arrivals = 0u;
  if (thread == 0u) { arrivals = atomicAdd(&counts[DIGITS], 1u) + 1u; }
  // 3. Write what is this invocation's turn, by units that begin at multiples of their size. The output may begin and end within one.
  const u32 lead = (u32)((u64)output % UNIT);
  output -= lead;
  const u32 past = lead + params.n;
  for (u32 unit = blockIdx.x * WORKGROUP + thread; unit < (past + UNIT - 1u) / UNIT; unit += params.groups * WORKGROUP) {
    const u32 begin = max(unit * UNIT, lead);
    const u32 end = min(unit * UNIT + UNIT, past);
    // 4. Search for the first key's digit: the last that begins no later.
    u32 digit = 0u;
#pragma unroll
    for (u32 step = DIGITS / 2u; step > 0u; step /= 2u) {
      if (digit_counts[digit + step] <= begin - lead) { digit += step; }
    }
    u32 words[4] = {0u, 0u, 0u, 0u};
    if (digit_end(digit, params.n) >= end - lead) {
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
          while (digit_end(digit, params.n) <= at - lead) { digit++; }
          words[i / 4u] |= (u32)(u8)key_restored(digit) << (8u * (i % 4u));
        }
      }
    }
    // 7. Store a unit at once, or what of it is the output's.
    if (end - begin == UNIT) {
      const uint4 whole = {words[0], words[1], words[2], words[3]};
      *(uint4 *)(output + begin) = whole;
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
    for (u32 i = thread; i <= DIGITS; i += WORKGROUP) { store_relaxed(&counts[i], 0u); }
  }
}
