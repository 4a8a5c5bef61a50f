// block/store4: the other half of block/pack4.

// Stores the elements of a pack that lie before `n`.
FUNCTION void store_pack(Pack *output, u32 index, u32 n, Pack v) {
  const u32 first = index * PACK;
  if (first + 0u < n) { ((T *)(output + index))[0] = v.x; }
  if (first + 1u < n) { ((T *)(output + index))[1] = v.y; }
  if (first + 2u < n) { ((T *)(output + index))[2] = v.z; }
  if (first + 3u < n) { ((T *)(output + index))[3] = v.w; }
}
