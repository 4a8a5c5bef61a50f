// block/digit_scan: an exclusive scan of 256 counts in workgroup memory, by workgroups of any size.

#define DIGIT_THREADS (DIGITS / DIGITS_EACH)

// Replaces digit_counts by its exclusive scan. Begins and ends with a barrier.
void digit_scan(u32 thread, __local u32 *digit_counts, __local u32 *digit_sums) {
  workgroup_barrier();
  const u32 first = thread * DIGITS_EACH;
  u32 sum = 0u;
  if (thread < DIGIT_THREADS) {
    for (u32 i = 0u; i < DIGITS_EACH; i++) { sum += digit_counts[first + i]; }
    digit_sums[thread] = sum;
  }
  u32 inclusive = sum;
  for (u32 delta = 1u; delta < DIGIT_THREADS; delta <<= 1u) {
    workgroup_barrier();
    const u32 left = thread < DIGIT_THREADS && thread >= delta ? digit_sums[thread - delta] : 0u;
    workgroup_barrier();
    inclusive += left;
    if (thread < DIGIT_THREADS) { digit_sums[thread] = inclusive; }
  }
  if (thread < DIGIT_THREADS) {
    u32 running = inclusive - sum;
    for (u32 i = 0u; i < DIGITS_EACH; i++) {
      const u32 count = digit_counts[first + i];
      digit_counts[first + i] = running;
      running += count;
    }
  }
  workgroup_barrier();
}
