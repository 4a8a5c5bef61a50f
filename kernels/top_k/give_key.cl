// top_k/give_key: a key that is wanted, by its index. Where there is none it is zeros.

void give_key(Input input, __global StoredKey *target, u32 n, u32 at, u32 index) {
  StoredKey key = key_zero();
  if (index < n) { key = load_input(input, index); }
  target[at] = key;
}
