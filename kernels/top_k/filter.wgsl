// top_k/filter: the indices of the keys that come no later than the bound: those before its key, and of the equal ones those up to its
// index. They come in any order. All are counted, and as many are written as there is room for. Reads each key once.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_found: atomic<u32>;
var<workgroup> shared_word: u32;

@compute @workgroup_size(WORKGROUP)
fn top_k_filter(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Is it needed? The bound before may have been good enough.
  if (ON_DEMAND > 0u) {
    if (thread == 0u) { shared_word = atomicLoad(&bound[BOUND_IS_EXACT]); }
    if (workgroupUniformLoad(&shared_word) == 0u) { return; }
  }
  if (thread == 0u) { atomicStore(&shared_found, 0u); }
  var last = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, atomicLoad(&bound[word])); }
  let last_index = atomicLoad(&bound[BOUND_INDEX]);
  workgroupBarrier();
  // 2. Take the tiles that are this workgroup's turn.
  for (var tile = id.x; tile < params.tiles; tile += params.groups) {
    let first = tile * TILE + thread;
    var keys: array<StoredKey, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) { keys[k] = load_input(params.input_offset + min(first + k * WORKGROUP, params.n - 1u)); }
    // 3. Bit k tells of row k.
    var kept = 0u;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let index = first + k * WORKGROUP;
      let key = key_ordered(keys[k]);
      let keeps = ordered_before(key, last) || (index <= last_index && !ordered_before(last, key));
      if (index < params.n && keeps) { kept |= 1u << k; }
    }
    // 4. The workgroup makes room for what it found.
    var place = 0u;
    if (kept > 0u) { place = atomicAdd(&shared_found, countOneBits(kept)); }
    workgroupBarrier();
    if (thread == 0u) {
      let found = atomicLoad(&shared_found);
      if (found > 0u) { shared_word = atomicAdd(&bound[BOUND_FOUND], found); }
      atomicStore(&shared_found, 0u);
    }
    place += workgroupUniformLoad(&shared_word);
    // 5. Write it.
    while (kept > 0u) {
      if (place < params.room) { candidates[place] = first + firstTrailingBit(kept) * WORKGROUP; }
      place += 1u;
      kept &= kept - 1u;
    }
  }
}
