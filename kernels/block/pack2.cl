// block/pack2: elements are loaded two elements at a time.

#define PACK 2u

// The pack at `index`; elements from `n` on are `filler`.
Pack load_pack(const __global Pack *input, u32 index, u32 n, T filler) {
  const u32 first = index * PACK;
  if (first + PACK <= n) { return input[index]; }
  Pack v;
  v.x = filler;
  v.y = filler;
  if (first + 0u < n) { v.x = ((const __global T *)(input + index))[0]; }
  return v;
}
