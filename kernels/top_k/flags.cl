// top_k/flags: says of each key whether it comes no later than the bound: 1 if it does, and else 0. A word has the flags of FLAGS
// keys, as bytes. Those that do are counted. Reads each key once, and writes a byte for each.

#define TILE (WORKGROUP * ROWS)

KERNEL void top_k_flags(ARGUMENTS) {
  __local u32 shared_found;
  const u32 thread = get_local_id(0);
  const u32 group = get_group_id(0);
  if (group >= params.slots) { return; }
  input += params.input_offset;
  // 1. Find what this workgroup takes. Is it needed? The bound before may have been good enough.
  const Share share = share_of(offsets, params, group);
  bound += (size_t)share.bound * BOUND_WORDS;
  if (ON_DEMAND > 0u && bound[BOUND_IS_EXACT] == 0u) { return; }
  if (thread == 0u) { shared_found = 0u; }
  const Key last = bound_key(bound);
  const u32 last_index = bound[BOUND_INDEX];
  // 2. Take the tiles that are this workgroup's turn.
  u32 found = 0u;
  const u32 tiles = share.end > share.first ? (share.end - share.first - 1u) / TILE + 1u : 0u;
  for (u32 tile = share.turn; tile < tiles; tile += share.turns) {
    // Keys whose flags are in a word lie together.
    const u32 first = share.first + tile * TILE + thread * FLAGS;
    StoredKey keys[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = first + k / FLAGS * FLAGS * WORKGROUP + k % FLAGS;
      keys[k] = load_input(input, min(index, share.end - 1u));
    }
    // 3. Byte k of a word tells of its key k.
#pragma unroll
    for (u32 row = 0u; row < WORDS; row++) {
      const u32 begin = first + row * FLAGS * WORKGROUP;
      u32 kept = 0u;
#pragma unroll
      for (u32 k = 0u; k < FLAGS; k++) {
        const u32 index = begin + k;
        const bool keeps = is_up_to(key_ordered(keys[row * FLAGS + k]), index, last, last_index);
        if (index < share.end && keeps) { kept |= 1u << (8u * k); }
      }
      if (begin < share.end) { flags[begin / FLAGS] = kept; }
      found += popcount(kept);
    }
  }
  // 4. Count them.
  workgroup_barrier();
  if (found > 0u) { atomic_add(&shared_found, found); }
  workgroup_barrier();
  if (thread == 0u && shared_found > 0u) { atomic_add(&bound[BOUND_FOUND], shared_found); }
}
