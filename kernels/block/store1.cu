// block/store1: the other half of block/pack1.

// Stores the elements of a pack that lie before `n`.
FUNCTION void store_pack(Pack *output, u32 index, u32 n, Pack v) {
  if (index < n) { output[index] = v; }
}
