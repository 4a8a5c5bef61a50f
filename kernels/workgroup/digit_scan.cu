// workgroup/digit_scan: an exclusive scan of 256 counts in workgroup memory, by workgroups of any size.

#define DIGIT_THREADS (DIGITS / DIGITS_EACH)

__shared__ u32 digit_counts[DIGITS];
__shared__ u32 digit_sums[MAX_SUBGROUPS];

// Replaces digit_counts by its exclusive scan. Begins and ends with a barrier.
FUNCTION void digit_scan(Subgroup sg) {
  workgroup_barrier();
  const u32 seat = sg.id * sg.width + sg.lane;
  const u32 first = seat * DIGITS_EACH;
  u32 sum = 0u;
  if (seat < DIGIT_THREADS) {
    for (u32 i = 0u; i < DIGITS_EACH; i++) { sum += digit_counts[first + i]; }
  }
  const u32 inclusive = subgroup_inclusive_sum(sum, sg.lane);
  if (sg.lane == sg.width - 1u) { digit_sums[sg.id] = inclusive; }
  workgroup_barrier();
  if (seat < DIGIT_THREADS) {
    u32 running = inclusive - sum;
    for (u32 s = 0u; s < sg.id; s++) { running += digit_sums[s]; }
    for (u32 i = 0u; i < DIGITS_EACH; i++) {
      const u32 count = digit_counts[first + i];
      digit_counts[first + i] = running;
      running += count;
    }
  }
  workgroup_barrier();
}
