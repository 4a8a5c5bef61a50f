// sort/digit_offsets: turns each place's counts into offsets, and decides which places need a pass and which buffers each
// pass reads and writes, so that the last one writes the output. One workgroup.

@group(0) @binding(0) var<storage, read_write> counts: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

const ROUTES: u32 = PLACES * DIGITS;
const BUFFER_INPUT: u32 = 0u;
const BUFFER_TEMP: u32 = 1u;
const BUFFER_OUTPUT: u32 = 2u;

var<workgroup> shared_skip: array<u32, PLACES>;

@compute @workgroup_size(WORKGROUP)
fn sort_digit_offsets(
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  let thread = subgroup * width + lane;
  // 1. Scan each place's counts. A place where one digit has all keys leaves their order as it is.
  if (thread < PLACES) { shared_skip[thread] = 0u; }
  for (var place = 0u; place < PLACES; place++) {
    workgroupBarrier();
    let count = counts[place * DIGITS + thread];
    if (count == params.n) { shared_skip[place] = 1u; }
    digit_counts[thread] = count;
    digit_scan(lane, width, subgroup);
    counts[place * DIGITS + thread] = digit_counts[thread];
  }
  workgroupBarrier();
  if (thread > 0u) { return; }
  // 2. Count the passes. Out of place there is at least one; in place their number is even.
  var passes = 0u;
  for (var place = 0u; place < PLACES; place++) { passes += 1u - shared_skip[place]; }
  let add = select(passes == 0u, passes % 2u == 1u, IN_PLACE == 1u);
  var added = false;
  for (var place = 0u; place < PLACES; place++) {
    if (add && !added && shared_skip[place] == 1u) {
      shared_skip[place] = 0u;
      passes++;
      added = true;
    }
  }
  // 3. Each pass reads what the one before it wrote.
  var source = BUFFER_INPUT;
  for (var place = 0u; place < PLACES; place++) {
    let route = ROUTES + 4u * place;
    counts[route] = 1u - shared_skip[place];
    if (shared_skip[place] == 0u) {
      let destination = select(BUFFER_TEMP, BUFFER_OUTPUT, passes % 2u == 1u);
      counts[route + 1u] = source;
      counts[route + 2u] = destination;
      source = destination;
      passes--;
    }
  }
}
