// block/pack4: elements are loaded four elements at a time.

#define PACK 4u

// The pack at `index`; elements from `n` on are `filler`.
FUNCTION Pack load_pack(const Pack *input, u32 index, u32 n, T filler) {
  const u32 first = index * PACK;
  if (first + PACK <= n) { return input[index]; }
  Pack v;
  v.x = filler;
  v.y = filler;
  v.z = filler;
  v.w = filler;
  if (first + 0u < n) { v.x = ((const T *)(input + index))[0]; }
  if (first + 1u < n) { v.y = ((const T *)(input + index))[1]; }
  if (first + 2u < n) { v.z = ((const T *)(input + index))[2]; }
  return v;
}
