// block/store2: the other half of block/pack2.

// Stores the elements of a pack that lie before `n`.
FUNCTION void store_pack(Pack *output, u32 index, u32 n, Pack v) {
  const u32 first = index * PACK;
  if (first + 0u < n) { ((T *)(output + index))[0] = v.x; }
  if (first + 1u < n) { ((T *)(output + index))[1] = v.y; }
}
