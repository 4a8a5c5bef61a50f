// top_k/up_to: whether a key comes no later than a bound: before its key, or as an equal one up to its index.

INLINED bool is_up_to(Key key, u32 index, Key last, u32 last_index) {
  return ordered_before(key, last) | ((index <= last_index) & !ordered_before(last, key));
}
