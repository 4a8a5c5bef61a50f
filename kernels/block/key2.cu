// block/key2: keys of two words, the lower one first, and the bits that order them.

typedef uint2 Key;

// The digit at a place of the key, such that unsigned digits order the keys.
FUNCTION u32 key_digit(Key key, u32 place) {
  u32 low = key.x;
  u32 high = key.y;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { high ^= 0x80000000u; }
  if (KEY_KIND == 2u) {
    const bool negative = (high >> 31u) == 1u;
    low ^= negative ? 0xffffffffu : 0u;
    high ^= negative ? 0xffffffffu : 0x80000000u;
  }
  const u32 word = place >= 4u ? high : low;
  const u32 digit = (word >> (8u * (place % 4u))) & 255u;
  return DESCENDING == 1u ? 255u - digit : digit;
}

// A key behind which no key sorts: its digits are all 255.
FUNCTION Key key_last() {
  Key key;
  key.x = KEY_KIND != 2u && DESCENDING == 1u ? 0u : 0xffffffffu;
  key.y = 0x7fffffffu;
  if (KEY_KIND == 0u) { key.y = DESCENDING == 1u ? 0u : 0xffffffffu; }
  if (KEY_KIND == 1u && DESCENDING == 1u) { key.y = 0x80000000u; }
  if (KEY_KIND == 2u && DESCENDING == 1u) { key.y = 0xffffffffu; }
  return key;
}

FUNCTION u32 key_word(Key key, u32 word) {
  return word == 1u ? key.y : key.x;
}

FUNCTION Key key_with_word(Key key, u32 word, u32 value) {
  if (word == 0u) { key.x = value; }
  if (word == 1u) { key.y = value; }
  return key;
}
