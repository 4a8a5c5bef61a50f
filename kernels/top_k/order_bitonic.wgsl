// top_k/order_bitonic: brings what is kept in order, by a bitonic sort in which missing keys come last. For many keys.

// Brings the first so many in order. All invocations call it together.
fn order_kept(count: u32, thread: u32) {
  var width = 2u;
  var reach = 1u;
  while (reach < count) {
    for (var pair = thread; pair < min(count, ROOM / 2u); pair += WORKGROUP) {
      let low = 2u * pair - (pair & (reach - 1u));
      let high = select(low + reach, low ^ (width - 1u), 2u * reach == width);
      if (high < count) {
        let key = kept_keys[low];
        let index = kept_indices[low];
        let other = kept_keys[high];
        let other_index = kept_indices[high];
        if (comes_before(other, other_index, key, index)) {
          kept_keys[low] = other;
          kept_indices[low] = other_index;
          kept_keys[high] = key;
          kept_indices[high] = index;
        }
      }
    }
    workgroupBarrier();
    reach /= 2u;
    if (reach == 0u) {
      reach = width;
      width *= 2u;
    }
  }
}
