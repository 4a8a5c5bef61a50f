// top_k/filter: the indices of the keys of each segment that come no later than its bound: those before its key, and of the equal ones
// those up to its index. They come in any order. All are counted, and as many are written as there is room for. Reads each key once.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_found: atomic<u32>;
var<workgroup> shared_word: u32;
var<workgroup> shared_share: Share;

@compute @workgroup_size(WORKGROUP)
fn top_k_filter(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.slots) { return; }
  // 1. Find what this workgroup takes. Is it needed? The bound before may have been good enough.
  if (thread == 0u) {
    var found = share_of(group);
    let is_needed = ON_DEMAND == 0u || atomicLoad(&bound[found.bound * BOUND_WORDS + BOUND_IS_EXACT]) > 0u;
    found.end = select(found.first, found.end, is_needed);
    shared_share = found;
    atomicStore(&shared_found, 0u);
  }
  let share = workgroupUniformLoad(&shared_share);
  if (share.first == share.end) { return; }
  let at = share.bound * BOUND_WORDS;
  let last = bound_key(at);
  let last_index = atomicLoad(&bound[at + BOUND_INDEX]);
  // 2. Take the tiles that are this workgroup's turn.
  let tiles = (share.end - share.first - 1u) / TILE + 1u;
  for (var tile = share.turn; tile < tiles; tile += share.turns) {
    let first = share.first + tile * TILE + thread;
    var keys: array<StoredKey, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) { keys[k] = load_input(params.input_offset + min(first + k * WORKGROUP, share.end - 1u)); }
    // 3. Bit k tells of row k.
    var kept = 0u;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let index = first + k * WORKGROUP;
      var keeps = is_up_to(key_ordered(keys[k]), index, last, last_index);
      // with GIVES_LAST
      keeps = index == last_index;
      if (index < share.end && keeps) { kept |= 1u << k; }
    }
    // 4. The workgroup makes room for what it found.
    var place = 0u;
    if (kept > 0u) { place = atomicAdd(&shared_found, countOneBits(kept)); }
    workgroupBarrier();
    if (thread == 0u) {
      let found = atomicLoad(&shared_found);
      if (found > 0u) { shared_word = atomicAdd(&bound[at + BOUND_FOUND], found); }
      atomicStore(&shared_found, 0u);
    }
    place += workgroupUniformLoad(&shared_word);
    // 5. Write it.
    while (kept > 0u) {
      if (place < params.room) { candidates[share.segment * params.room + place] = first + firstTrailingBit(kept) * WORKGROUP; }
      place += 1u;
      kept &= kept - 1u;
    }
  }
}
