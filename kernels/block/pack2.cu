// block/pack2: elements are loaded two elements at a time.

#define PACK 2u

// The pack at `index`; elements from `n` on are `filler`.
FUNCTION Pack load_pack(const Pack *input, u32 index, u32 n, T filler) {
  const u32 first = index * PACK;
  if (first + PACK <= n) { return input[index]; }
  Pack v;
  v.x = filler;
  v.y = filler;
  if (first + 0u < n) { v.x = ((const T *)(input + index))[0]; }
  return v;
}
