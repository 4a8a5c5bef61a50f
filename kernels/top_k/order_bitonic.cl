// top_k/order_bitonic: brings what is kept in order, by a bitonic sort in which missing keys come last. For many keys.

// Brings the first so many in order. All invocations call it together.
void order_kept(__local Key *kept_keys, __local u32 *kept_indices, u32 count, u32 thread) {
  u32 width = 2u;
  u32 reach = 1u;
  while (reach < count) {
    for (u32 pair = thread; pair < min(count, (u32)(ROOM / 2u)); pair += WORKGROUP) {
      const u32 low = 2u * pair - (pair & (reach - 1u));
      const u32 high = 2u * reach == width ? low ^ (width - 1u) : low + reach;
      if (high < count) {
        const Key key = kept_keys[low];
        const u32 index = kept_indices[low];
        const Key other = kept_keys[high];
        const u32 other_index = kept_indices[high];
        if (comes_before(other, other_index, key, index)) {
          kept_keys[low] = other;
          kept_indices[low] = other_index;
          kept_keys[high] = key;
          kept_indices[high] = index;
        }
      }
    }
    workgroup_barrier();
    reach /= 2u;
    if (reach == 0u) {
      reach = width;
      width *= 2u;
    }
  }
}
