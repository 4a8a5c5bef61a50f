// merge_sort/store_keys: a key to its place, in the second buffer if its segment is merged there next.

fn store_key(here: Span, at: u32, key: StoredKey) {
  // with MERGES
  if ((at < here.begin) | (at >= here.end)) { store_temp(at, key); return; }
  store_output(params.output_offset + at, key);
}
