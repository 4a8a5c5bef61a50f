// top_k/flags: says of each key whether it comes no later than the bound: 1 if it does, and else 0. A word has the flags of FLAGS
// keys, as bytes. Reads each key once, and writes a byte for each.

@compute @workgroup_size(WORKGROUP)
fn top_k_flags(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let at = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (at >= (params.n + FLAGS - 1u) / FLAGS) { return; }
  // 1. Load the bound, and keys that lie together.
  var last = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, bound[word]); }
  let last_index = bound[BOUND_INDEX];
  let first = at * FLAGS;
  var keys: array<StoredKey, FLAGS>;
  // unroll
  for (var k = 0u; k < FLAGS; k++) { keys[k] = load_input(params.input_offset + min(first + k, params.n - 1u)); }
  // 2. Byte k tells of key k.
  var kept = 0u;
  // unroll
  for (var k = 0u; k < FLAGS; k++) {
    let index = first + k;
    if (index < params.n && is_up_to(key_ordered(keys[k]), index, last, last_index)) { kept |= 1u << (8u * k); }
  }
  flags[at] = kept;
}
