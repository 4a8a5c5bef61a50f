// sort/digit_counts: counts the digits of every place of every key in one read. The last workgroup to arrive turns the counts into
// offsets and says which passes are needed.

const TILE: u32 = WORKGROUP * ITEMS;

var<workgroup> shared_arrivals: u32;

@compute @workgroup_size(WORKGROUP)
fn sort_digit_counts(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  // 1. Clear this workgroup's counts. Where memory allows it lanes count in copies of their own: a bank serves one at a time.
  for (var i = thread; i < COUNTS * COPIES; i += WORKGROUP) { atomicStore(&shared_counts[i], 0u); }
  workgroupBarrier();
  // 2. Count the tiles that are this workgroup's turn.
  for (var tile = id.x; tile < params.tiles; tile += params.groups) {
    let first = tile * TILE + thread;
    var keys: array<StoredKey, ITEMS>;
    // unroll
    for (var k = 0u; k < ITEMS; k++) { keys[k] = load_input(params.input_offset + min(first + k * WORKGROUP, params.n - 1u)); }
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      if (first + k * WORKGROUP < params.n) {
        // unroll
        for (var place = 0u; place < PLACES; place++) {
          if (place >= FIRST_PLACE) {
            atomicAdd(&shared_counts[(place * DIGITS + key_digit(keys[k], place)) * COPIES + thread % COPIES], 1u);
          }
        }
      }
    }
  }
  workgroupBarrier();
  // 3. Add them to the whole.
  for (var i = thread; i < COUNTS; i += WORKGROUP) {
    var count = 0u;
    for (var copy = 0u; copy < COPIES; copy++) { count += atomicLoad(&shared_counts[i * COPIES + (copy + thread) % COPIES]); }
    if (count > 0u) { atomicAdd(&bins[i], count); }
  }
  workgroupBarrier();
  // 4. The last workgroup goes on, and leaves the scratch clean.
  if (thread == 0u) { shared_arrivals = atomicAdd(&bins[COUNTS], 1u) + 1u; }
  if (workgroupUniformLoad(&shared_arrivals) < params.groups) { return; }
  digit_offsets(thread, lane, width, subgroup);
}
