// top_k/flags: says of each key whether it comes no later than the bound: 1 if it does, and else 0. A word has the flags of FLAGS
// keys, as bytes. Reads each key once, and writes a byte for each.

KERNEL void top_k_flags(ARGUMENTS) {
  input += params.input_offset;
  const u32 at = get_global_id(0);
  if (at >= (params.n + FLAGS - 1u) / FLAGS) { return; }
  // 1. Load the bound, and keys that lie together.
  Key last = ordered_last();
#pragma unroll
  for (u32 word = 0u; word < KEY_WORDS; word++) { last = key_with_word(last, word, bound[word]); }
  const u32 last_index = bound[BOUND_INDEX];
  const u32 first = at * FLAGS;
  StoredKey keys[FLAGS];
#pragma unroll
  for (u32 k = 0u; k < FLAGS; k++) { keys[k] = load_input(input, min(first + k, params.n - 1u)); }
  // 2. Byte k tells of key k.
  u32 kept = 0u;
#pragma unroll
  for (u32 k = 0u; k < FLAGS; k++) {
    const u32 index = first + k;
    if (index < params.n && is_up_to(key_ordered(keys[k]), index, last, last_index)) { kept |= 1u << (8u * k); }
  }
  flags[at] = kept;
}
