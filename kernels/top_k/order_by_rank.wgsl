// top_k/order_by_rank: brings what is kept in order: each invocation counts how many keys come before its SEATS own ones. For few keys.

// Brings the first so many in order. All invocations call it together.
fn order_kept(count: u32, thread: u32) {
  var keys: array<Key, SEATS>;
  var indices: array<u32, SEATS>;
  var ranks: array<u32, SEATS>;
  // unroll
  for (var k = 0u; k < SEATS; k++) {
    keys[k] = kept_keys[thread + k * WORKGROUP];
    indices[k] = kept_indices[thread + k * WORKGROUP];
    ranks[k] = 0u;
  }
  for (var i = 0u; i < count; i++) {
    let key = kept_keys[i];
    let index = kept_indices[i];
    // unroll
    for (var k = 0u; k < SEATS; k++) { ranks[k] += select(0u, 1u, comes_before(key, index, keys[k], indices[k])); }
  }
  workgroupBarrier();
  // unroll
  for (var k = 0u; k < SEATS; k++) {
    if (thread + k * WORKGROUP < count) {
      kept_keys[ranks[k]] = keys[k];
      kept_indices[ranks[k]] = indices[k];
    }
  }
  workgroupBarrier();
}
