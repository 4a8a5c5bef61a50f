// block/pack1: elements are loaded one element at a time.

#define PACK 1u

// The pack at `index`; elements from `n` on are `filler`.
FUNCTION Pack load_pack(const Pack *input, u32 index, u32 n, T filler) {
  return index < n ? input[index] : filler;
}
