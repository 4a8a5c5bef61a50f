// top_k/kept: what a workgroup keeps of keys, in no order.

var<workgroup> kept_keys: array<Key, ROOM>;
var<workgroup> kept_indices: array<u32, ROOM>;

// Whether a key comes before another. Of equal ones the one with the smaller index does.
fn comes_before(a: Key, index_a: u32, b: Key, index_b: u32) -> bool {
  // Without branches, which cost more than what they leave out.
  return ordered_before(a, b) | ((index_a < index_b) & !ordered_before(b, a));
}
