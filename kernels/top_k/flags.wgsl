// top_k/flags: says of each key whether it comes no later than the bound: 1 if it does, and else 0. A word has the flags of FLAGS
// keys, as bytes. Those that do are counted. Reads each key once, and writes a byte for each.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_found: atomic<u32>;
var<workgroup> shared_share: Share;

@compute @workgroup_size(WORKGROUP)
fn top_k_flags(
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
  var found = 0u;
  let tiles = (share.end - share.first - 1u) / TILE + 1u;
  for (var tile = share.turn; tile < tiles; tile += share.turns) {
    // Keys whose flags are in a word lie together.
    let first = share.first + tile * TILE + thread * FLAGS;
    var keys: array<StoredKey, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let index = first + k / FLAGS * FLAGS * WORKGROUP + k % FLAGS;
      keys[k] = load_input(params.input_offset + min(index, share.end - 1u));
    }
    // 3. Byte k of a word tells of its key k.
    // unroll
    for (var row = 0u; row < WORDS; row++) {
      let begin = first + row * FLAGS * WORKGROUP;
      var kept = 0u;
      // unroll
      for (var k = 0u; k < FLAGS; k++) {
        let index = begin + k;
        let keeps = is_up_to(key_ordered(keys[row * FLAGS + k]), index, last, last_index);
        if (index < share.end && keeps) { kept |= 1u << (8u * k); }
      }
      if (begin < share.end) { flags[begin / FLAGS] = kept; }
      found += countOneBits(kept);
    }
  }
  // 4. Count them.
  if (found > 0u) { atomicAdd(&shared_found, found); }
  workgroupBarrier();
  if (thread == 0u && atomicLoad(&shared_found) > 0u) { atomicAdd(&bound[at + BOUND_FOUND], atomicLoad(&shared_found)); }
}
