// top_k/kept: what a workgroup keeps of keys, in no order.

__shared__ Key kept_keys[ROOM];
__shared__ u32 kept_indices[ROOM];

// Whether a key comes before another. Of equal ones the one with the smaller index does.
FUNCTION bool comes_before(Key a, u32 index_a, Key b, u32 index_b) {
  // Without branches, which cost more than what they leave out.
  return ordered_before(a, b) | ((index_a < index_b) & !ordered_before(b, a));
}
