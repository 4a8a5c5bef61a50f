// top_k/up_to: whether a key comes no later than a bound: before its key, or as an equal one up to its index.

fn is_up_to(key: Key, index: u32, last: Key, last_index: u32) -> bool {
  return ordered_before(key, last) | ((index <= last_index) & !ordered_before(last, key));
}
