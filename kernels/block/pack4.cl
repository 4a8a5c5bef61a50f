// block/pack4: elements are loaded four elements at a time.

#define PACK 4u

// The pack at `index`; elements from `n` on are `filler`.
Pack load_pack(const __global Pack *input, u32 index, u32 n, T filler) {
  const u32 first = index * PACK;
  if (first + PACK <= n) { return input[index]; }
  Pack v;
  v.x = filler;
  v.y = filler;
  v.z = filler;
  v.w = filler;
  if (first + 0u < n) { v.x = ((const __global T *)(input + index))[0]; }
  if (first + 1u < n) { v.y = ((const __global T *)(input + index))[1]; }
  if (first + 2u < n) { v.z = ((const __global T *)(input + index))[2]; }
  return v;
}
