// sort/digit_offsets: turns each place's counts into offsets, and decides which places need a pass and which buffers each
// pass reads and writes, so that the last one writes the output. For the last workgroup of the histogram.

#define COUNTS (PLACES * DIGITS)
#define ROUTES COUNTS
#define BUFFER_INPUT 0u
#define BUFFER_TEMP 1u
#define BUFFER_OUTPUT 2u
// For keys that nobody asks for.
#define BUFFER_NONE 3u

// Nothing orders the other workgroups' counts before their arrival, so they are read until they add up to n.
void digit_offsets(
  __global u32 *bins, __global u32 *counts, Params params, u32 thread, Subgroup sg, __local u32 *shared_counts,
  __local u32 *shared_skip, __local u32 *shared_large, __local u32 *digit_counts, __local u32 *digit_sums
) {
  // 1. Scan each place's counts. A place where one digit has all keys leaves their order as it is.
  bool complete;
  do {
    for (u32 i = thread; i < COUNTS; i += WORKGROUP) { shared_counts[i] = load_relaxed_u32(&bins[i]); }
    if (thread < PLACES) { shared_skip[thread] = 0u; }
    if (thread == 0u) { *shared_large = 0u; }
    complete = true;
    for (u32 place = FIRST_PLACE; place < PLACES; place++) {
      workgroup_barrier();
      for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
        const u32 count = shared_counts[place * DIGITS + digit];
        if (count == params.n) { shared_skip[place] = 1u; }
        if (place == BUCKET_PLACE && count > BUCKET_TILE) { *shared_large = 1u; }
        digit_counts[digit] = count;
      }
      digit_scan(sg, digit_counts, digit_sums);
      for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) { counts[place * DIGITS + digit] = digit_counts[digit]; }
      const u32 last = digit_counts[DIGITS - 1u] + shared_counts[place * DIGITS + DIGITS - 1u];
      complete = complete && last == params.n;
    }
    workgroup_barrier();
  } while (!complete);
  // Counts and arrivals are left clean.
  for (u32 i = thread; i <= COUNTS; i += WORKGROUP) { store_relaxed_u32(&bins[i], 0u); }
  if (thread > 0u) { return; }
  // 2. Where the highest place parts the keys into buckets that each fit a workgroup, no other pass is needed: each is sorted by itself.
  const bool buckets = BUCKET_TILE > 0u && *shared_large == 0u;
  for (u32 place = FIRST_PLACE; place < PLACES && buckets; place++) { shared_skip[place] = place == BUCKET_PLACE ? 0u : 1u; }
  counts[ROUTES + 4u * BUCKET_PLACE + 3u] = buckets ? 1u : 0u;
  // 3. Count the passes, that over the buckets among them. Out of place there is at least one; in place their number is even.
  u32 passes = buckets ? 1u : 0u;
  for (u32 place = FIRST_PLACE; place < PLACES; place++) { passes += 1u - shared_skip[place]; }
  const bool add = IN_PLACE == 1u ? passes % 2u == 1u : passes == 0u;
  bool added = false;
  for (u32 place = FIRST_PLACE; place < PLACES; place++) {
    if (add && !added && shared_skip[place] == 1u) {
      shared_skip[place] = 0u;
      passes++;
      added = true;
    }
  }
  // 4. Each pass reads what the one before it wrote.
  u32 source = BUFFER_INPUT;
  for (u32 place = FIRST_PLACE; place < PLACES; place++) {
    __global u32 *route = counts + ROUTES + 4u * place;
    route[0] = 1u - shared_skip[place];
    if (shared_skip[place] == 0u) {
      const u32 destination = passes % 2u == 1u ? BUFFER_OUTPUT : BUFFER_TEMP;
      route[1] = source;
      route[2] = VALUES_ALONE == 1u && passes == 1u ? BUFFER_NONE : destination;
      source = destination;
      passes--;
    }
  }
}
