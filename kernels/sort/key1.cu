// sort/key1: keys of one word, and the bits that order them.

typedef u32 Key;

// The key as an unsigned number that orders it among the others.
FUNCTION Key key_ordered(Key key) {
  u32 bits = key;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= (bits >> 31u) == 1u ? 0xffffffffu : 0x80000000u; }
  return DESCENDING == 1u ? ~bits : bits;
}

FUNCTION Key key_restored(Key ordered) {
  u32 bits = DESCENDING == 1u ? ~ordered : ordered;
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= (bits >> 31u) == 1u ? 0x80000000u : 0xffffffffu; }
  return bits;
}

// Behind this one no ordered key sorts: its digits are all 255.
FUNCTION Key ordered_last() {
  return 0xffffffffu;
}

// Whether an ordered key sorts before another.
FUNCTION bool ordered_before(Key a, Key b) {
  return a < b;
}

// The digit at a place of an ordered key.
FUNCTION u32 ordered_digit(Key ordered, u32 place) {
  return (ordered >> (8u * place)) & 255u;
}

// The digit at a place of the key, such that unsigned digits order the keys.
FUNCTION u32 key_digit(Key key, u32 place) {
  return ordered_digit(key_ordered(key), place);
}

FUNCTION u32 key_word(Key key, u32 word) {
  return key;
}

FUNCTION Key key_with_word(Key key, u32 word, u32 value) {
  return value;
}
