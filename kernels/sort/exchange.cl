// sort/exchange: a tile's keys in workgroup memory, one word of all keys after the other, and of pairs the indices of their values.

#define CAPACITY (WORKGROUP * ITEMS)
// From one word of the keys to the next: with a place that is read once a run has ended, and whose key nobody takes.
#define STRIDE (CAPACITY + 1u)
// What moves: a key's words and, of a pair, the index of its value.
#define MOVED (KEY_WORDS + (VALUE_WORDS > 0u ? 1u : 0u))

Key key_at(__local const u32 *exchange, u32 at) {
  Key key = ordered_last();
#pragma unroll
  for (u32 word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * STRIDE + at]); }
  return key;
}

u32 origin_at(__local const u32 *exchange, u32 at) {
  return VALUE_WORDS > 0u ? exchange[(MOVED - 1u) * STRIDE + at] : 0u;
}

void put(__local u32 *exchange, u32 at, Key key, u32 origin) {
#pragma unroll
  for (u32 word = 0u; word < KEY_WORDS; word++) { exchange[word * STRIDE + at] = key_word(key, word); }
  if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * STRIDE + at] = origin; }
}
