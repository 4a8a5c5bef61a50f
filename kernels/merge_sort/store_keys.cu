// merge_sort/store_keys: a key to its place, in the second buffer if its segment is merged there next.

FUNCTION void store_key(StoredKey *target, StoredKey *temp, Span here, u32 at, StoredKey key) {
  // with MERGES
  if ((at < here.begin) | (at >= here.end)) { target = temp; }
  target[at] = key;
}
