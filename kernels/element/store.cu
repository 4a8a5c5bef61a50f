// element/store: the other half of element/load.

// Stores the elements of a pack that lie before `n`.
FUNCTION void store_pack(Output output, u32 index, u32 n, Pack v) {
  const u32 first = index * PACK;
  // each lane
  if (first + LANE < n) { ((T *)(output + index))[LANE] = v.LANE; }
}
