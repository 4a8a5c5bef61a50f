// top_k/order_by_rank: brings what is kept in order: each invocation counts how many keys come before its SEATS own ones. For few keys.

// Brings the first so many in order. All invocations call it together.
FUNCTION void order_kept(u32 count, u32 thread) {
  Key keys[SEATS];
  u32 indices[SEATS];
  u32 ranks[SEATS];
#pragma unroll
  for (u32 k = 0u; k < SEATS; k++) {
    keys[k] = kept_keys[thread + k * WORKGROUP];
    indices[k] = kept_indices[thread + k * WORKGROUP];
    ranks[k] = 0u;
  }
  for (u32 i = 0u; i < count; i++) {
    const Key key = kept_keys[i];
    const u32 index = kept_indices[i];
#pragma unroll
    for (u32 k = 0u; k < SEATS; k++) { ranks[k] += comes_before(key, index, keys[k], indices[k]) ? 1u : 0u; }
  }
  workgroup_barrier();
#pragma unroll
  for (u32 k = 0u; k < SEATS; k++) {
    if (thread + k * WORKGROUP < count) {
      kept_keys[ranks[k]] = keys[k];
      kept_indices[ranks[k]] = indices[k];
    }
  }
  workgroup_barrier();
}
