// top_k/select: the first keys of each part of a segment, in order. A workgroup takes a part, tile by tile, and keeps in its memory what may
// be among the first K. When there is no room for all keys of a tile, it takes each invocation's first, and sorts what it has: from then on
// only keys that come before the K-th of these are taken. Reads each key once.

#define TILE (WORKGROUP * ROWS)

__shared__ u32 shared_kept;
__shared__ u32 shared_passing;

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_select(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const u32 group = blockIdx.x;
  input += params.input_offset;
  input_values += params.input_values_offset;
  target_keys += params.target_offset;
  target_values += params.target_values_offset;
  if (group >= params.slots) { return; }
  // 1. Find the part, if there is one.
  const Part part = part_of(offsets, params, group);
  if (part.slot == NO_SLOT) { return; }
  if (thread == 0u) {
    shared_kept = 0u;
    shared_passing = 0u;
  }
  workgroup_barrier();
  u32 next = part.first;
  u32 count = 0u;
  Key last = ordered_last();
  u32 last_index = 0xffffffffu;
  Key keys[ROWS];
  u32 left = 0u;
  bool are_left = false;
  u32 first = next;
  while (are_left || next < part.end) {
    // 2. Load a tile, once nothing is left of the one before.
    if (!are_left) {
      first = next + thread;
      next += min((u32)TILE, part.end - next);
      left = 0u;
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        const u32 place = first + k * WORKGROUP;
        const u32 index = index_of(candidates, min(place, part.end - 1u));
        if ((place < part.end) & (index < params.n)) { left |= 1u << k; }
        keys[k] = key_ordered(load_input(input, min(index, max(params.n, 1u) - 1u)));
      }
    }
    // 3. Keys past the bound are out. How many are left?
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = index_of(candidates, min(first + k * WORKGROUP, part.end - 1u));
      if (!comes_before(keys[k], index, last, last_index)) { left &= ~(1u << k); }
    }
    if (left > 0u) { atomicAdd(&shared_passing, (u32)__popc(left)); }
    const u32 passing = workgroup_uniform_load(&shared_passing);
    if (thread == 0u) { shared_passing = 0u; }
    // 4. Take all, or each invocation's first in every part of its rows, or, to make room first, none.
    are_left = count + passing > ROOM;
    u32 taken = left;
    if (are_left) {
      taken = 0u;
      u32 bit = 0u;
      Key best = keys[0];
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        if (k % ROWS_EACH == 0u) {
          taken |= bit;
          bit = 0u;
        }
        if ((((left >> k) & 1u) > 0u) & ((bit == 0u) | ordered_before(keys[k], best))) {
          bit = 1u << k;
          best = keys[k];
        }
      }
      taken = count <= ROOM / 2u ? taken | bit : 0u;
    }
    left &= ~taken;
    if (taken > 0u) {
      u32 at = atomicAdd(&shared_kept, (u32)__popc(taken));
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        if (((taken >> k) & 1u) > 0u) {
          kept_keys[at] = keys[k];
          kept_indices[at] = index_of(candidates, first + k * WORKGROUP);
          at += 1u;
        }
      }
    }
    count = workgroup_uniform_load(&shared_kept);
    // 5. Bring them in order, to know the bound, or because these are all.
    const bool orders = are_left || next == part.end;
    order_kept(orders ? count : 0u, thread);
    if (orders) {
      count = min(count, params.k);
      if (thread == 0u) { shared_kept = count; }
      if (count == params.k) {
        last = kept_keys[count - 1u];
        last_index = kept_indices[count - 1u];
      }
    }
  }
  // 6. Write what is wanted of them. Where there are fewer, what says that there is none stands behind them.
  const u32 most = PADS > 0u ? params.k : count;
  for (u32 i = thread; i < most; i += WORKGROUP) {
    u32 at = part.slot * params.k + i;
    // with GIVES_LAST
    if (i + 1u != max(count, 1u)) { continue; }
    // with GIVES_LAST
    at = part.slot;
    const u32 index = i < count ? kept_indices[i] : 0xffffffffu;
    // with CHOOSES
    chosen[at] = index;
    // with GIVES_KEYS
    give_key(input, target_keys, params.n, at, index);
    // with VALUE_WORDS
    give_value(input_values, target_values, params.n, at, index, part.segment_begin);
  }
}
