// sort/digit_offsets: turns each place's counts into offsets, and decides which places need a pass and which buffers each
// pass reads and writes, so that the last one writes the output. For the last workgroup of the histogram.

const COUNTS: u32 = PLACES * DIGITS;
const ROUTES: u32 = COUNTS;
const BUFFER_INPUT: u32 = 0u;
const BUFFER_TEMP: u32 = 1u;
const BUFFER_OUTPUT: u32 = 2u;
// For keys that nobody asks for.
const BUFFER_NONE: u32 = 3u;

var<workgroup> shared_counts: array<atomic<u32>, COUNTS * COPIES>;
var<workgroup> shared_skip: array<u32, PLACES>;
var<workgroup> shared_large: u32;
var<workgroup> shared_complete: u32;

// Nothing orders the other workgroups' counts before their arrival, so they are read until they add up to n.
fn digit_offsets(thread: u32, lane: u32, width: u32, subgroup: u32) {
  // 1. Scan each place's counts. A place where one digit has all keys leaves their order as it is.
  loop {
    for (var i = thread; i < COUNTS; i += WORKGROUP) { atomicStore(&shared_counts[i], atomicLoad(&bins[i])); }
    if (thread < PLACES) { shared_skip[thread] = 0u; }
    if (thread == 0u) { shared_large = 0u; }
    var complete = 1u;
    for (var place = FIRST_PLACE; place < PLACES; place++) {
      workgroupBarrier();
      for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
        let count = atomicLoad(&shared_counts[place * DIGITS + digit]);
        if (count == params.n) { shared_skip[place] = 1u; }
        if (place == BUCKET_PLACE && count > BUCKET_TILE) { shared_large = 1u; }
        digit_counts[digit] = count;
      }
      digit_scan(lane, width, subgroup);
      for (var digit = thread; digit < DIGITS; digit += WORKGROUP) { counts[place * DIGITS + digit] = digit_counts[digit]; }
      let last = digit_counts[DIGITS - 1u] + atomicLoad(&shared_counts[place * DIGITS + DIGITS - 1u]);
      if (last != params.n) { complete = 0u; }
    }
    if (thread == 0u) { shared_complete = complete; }
    if (workgroupUniformLoad(&shared_complete) == 1u) { break; }
  }
  // Counts and arrivals are left clean.
  for (var i = thread; i <= COUNTS; i += WORKGROUP) { atomicStore(&bins[i], 0u); }
  if (thread > 0u) { return; }
  // 2. Where the highest place parts the keys into buckets that each fit a workgroup, no other pass is needed: each is sorted by itself.
  let buckets = BUCKET_TILE > 0u && shared_large == 0u;
  for (var place = FIRST_PLACE; place < PLACES && buckets; place++) { shared_skip[place] = select(1u, 0u, place == BUCKET_PLACE); }
  counts[ROUTES + 4u * BUCKET_PLACE + 3u] = select(0u, 1u, buckets);
  // 3. Count the passes, that over the buckets among them. Out of place there is at least one; in place their number is even.
  var passes = select(0u, 1u, buckets);
  for (var place = FIRST_PLACE; place < PLACES; place++) { passes += 1u - shared_skip[place]; }
  let add = select(passes == 0u, passes % 2u == 1u, IN_PLACE == 1u);
  var added = false;
  for (var place = FIRST_PLACE; place < PLACES; place++) {
    if (add && !added && shared_skip[place] == 1u) {
      shared_skip[place] = 0u;
      passes++;
      added = true;
    }
  }
  // 4. Each pass reads what the one before it wrote.
  var source = BUFFER_INPUT;
  for (var place = FIRST_PLACE; place < PLACES; place++) {
    let route = ROUTES + 4u * place;
    counts[route] = 1u - shared_skip[place];
    if (shared_skip[place] == 0u) {
      let destination = select(BUFFER_TEMP, BUFFER_OUTPUT, passes % 2u == 1u);
      counts[route + 1u] = source;
      counts[route + 2u] = select(destination, BUFFER_NONE, VALUES_ALONE == 1u && passes == 1u);
      source = destination;
      passes--;
    }
  }
}
