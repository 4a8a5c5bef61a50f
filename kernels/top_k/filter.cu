// top_k/filter: the indices of the keys of each segment that come no later than its bound: those before its key, and of the equal ones
// those up to its index. They come in any order. All are counted, and as many are written as there is room for. Reads each key once.

#define TILE (WORKGROUP * ROWS)

__shared__ u32 shared_found;
__shared__ u32 shared_word;

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_filter(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const u32 group = blockIdx.x;
  if (group >= params.slots) { return; }
  input += params.input_offset;
  // 1. Find what this workgroup takes. Is it needed? The bound before may have been good enough.
  const Share share = share_of(offsets, params, group);
  bound += (size_t)share.bound * BOUND_WORDS;
  candidates += share.segment * params.room;
  if (ON_DEMAND > 0u && bound[BOUND_IS_EXACT] == 0u) { return; }
  if (thread == 0u) { shared_found = 0u; }
  const Key last = bound_key(bound);
  const u32 last_index = bound[BOUND_INDEX];
  workgroup_barrier();
  // 2. Take the tiles that are this workgroup's turn.
  const u32 tiles = share.end > share.first ? (share.end - share.first - 1u) / TILE + 1u : 0u;
  for (u32 tile = share.turn; tile < tiles; tile += share.turns) {
    const u32 first = share.first + tile * TILE + thread;
    StoredKey keys[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { keys[k] = load_input(input, min(first + k * WORKGROUP, share.end - 1u)); }
    // 3. Bit k tells of row k.
    u32 kept = 0u;
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = first + k * WORKGROUP;
      bool keeps = is_up_to(key_ordered(keys[k]), index, last, last_index);
      // with GIVES_LAST
      keeps = index == last_index;
      if (index < share.end && keeps) { kept |= 1u << k; }
    }
    // 4. The workgroup makes room for what it found.
    u32 place = 0u;
    if (kept > 0u) { place = atomicAdd(&shared_found, (u32)__popc(kept)); }
    workgroup_barrier();
    if (thread == 0u) {
      const u32 found = shared_found;
      if (found > 0u) { shared_word = atomicAdd(&bound[BOUND_FOUND], found); }
      shared_found = 0u;
    }
    place += workgroup_uniform_load(&shared_word);
    // 5. Write it.
    while (kept > 0u) {
      if (place < params.room) { candidates[place] = first + (u32)__popc((kept & (0u - kept)) - 1u) * WORKGROUP; }
      place += 1u;
      kept &= kept - 1u;
    }
  }
}
