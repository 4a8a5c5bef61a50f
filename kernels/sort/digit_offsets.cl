// sort/digit_offsets: turns each place's counts into offsets, and decides which places need a pass and which buffers each
// pass reads and writes, so that the last one writes the output. One workgroup.

#define ROUTES (PLACES * DIGITS)
#define BUFFER_INPUT 0u
#define BUFFER_TEMP 1u
#define BUFFER_OUTPUT 2u

__kernel __attribute__((reqd_work_group_size(WORKGROUP, 1, 1))) SUBGROUP_KERNEL void sort_digit_offsets(__global u32 *counts, Params params) {
  __local u32 shared_skip[PLACES];
  __local u32 digit_counts[DIGITS];
  __local u32 digit_sums[MAX_SUBGROUPS];
  DECLARE_SUBGROUP(sg);
  const u32 thread = sg.id * sg.width + sg.lane;
  // 1. Scan each place's counts. A place where one digit has all keys leaves their order as it is.
  if (thread < PLACES) { shared_skip[thread] = 0u; }
  for (u32 place = 0u; place < PLACES; place++) {
    workgroup_barrier();
    const u32 count = counts[place * DIGITS + thread];
    if (count == params.n) { shared_skip[place] = 1u; }
    digit_counts[thread] = count;
    digit_scan(sg, digit_counts, digit_sums);
    counts[place * DIGITS + thread] = digit_counts[thread];
  }
  workgroup_barrier();
  if (thread > 0u) { return; }
  // 2. Count the passes. Out of place there is at least one; in place their number is even.
  u32 passes = 0u;
  for (u32 place = 0u; place < PLACES; place++) { passes += 1u - shared_skip[place]; }
  const bool add = IN_PLACE == 1u ? passes % 2u == 1u : passes == 0u;
  bool added = false;
  for (u32 place = 0u; place < PLACES; place++) {
    if (add && !added && shared_skip[place] == 1u) {
      shared_skip[place] = 0u;
      passes++;
      added = true;
    }
  }
  // 3. Each pass reads what the one before it wrote.
  u32 source = BUFFER_INPUT;
  for (u32 place = 0u; place < PLACES; place++) {
    const u32 route = ROUTES + 4u * place;
    counts[route] = 1u - shared_skip[place];
    if (shared_skip[place] == 0u) {
      const u32 destination = passes % 2u == 1u ? BUFFER_OUTPUT : BUFFER_TEMP;
      counts[route + 1u] = source;
      counts[route + 2u] = destination;
      source = destination;
      passes--;
    }
  }
}
