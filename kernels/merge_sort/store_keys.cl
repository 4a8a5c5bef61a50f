// merge_sort/store_keys: a key to its place, in the second buffer if its segment is merged there next.

void store_key(__global StoredKey *target, __global StoredKey *temp, Span here, u32 at, StoredKey key) {
  // with MERGES
  if ((at < here.begin) | (at >= here.end)) { target = temp; }
  target[at] = key;
}
