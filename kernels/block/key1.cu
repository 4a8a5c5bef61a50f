// block/key1: keys of one word, and the bits that order them.

typedef u32 Key;

// The digit at a place of the key, such that unsigned digits order the keys.
FUNCTION u32 key_digit(Key key, u32 place) {
  u32 bits = key;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= (bits >> 31u) == 1u ? 0xffffffffu : 0x80000000u; }
  const u32 digit = (bits >> (8u * place)) & 255u;
  return DESCENDING == 1u ? 255u - digit : digit;
}

// A key behind which no key sorts: its digits are all 255.
FUNCTION Key key_last() {
  if (KEY_KIND == 0u) { return DESCENDING == 1u ? 0u : 0xffffffffu; }
  if (KEY_KIND == 1u) { return DESCENDING == 1u ? 0x80000000u : 0x7fffffffu; }
  return DESCENDING == 1u ? 0xffffffffu : 0x7fffffffu;
}

FUNCTION u32 key_word(Key key, u32 word) {
  return key;
}

FUNCTION Key key_with_word(Key key, u32 word, u32 value) {
  return value;
}
