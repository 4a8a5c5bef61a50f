// sort/key2: keys of two words, the lower one first, and the bits that order them. No 64-bit integers needed.

typedef uint2 Key;

// The key as an unsigned number that orders it among the others.
FUNCTION Key key_ordered(Key key) {
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { key.y ^= 0x80000000u; }
  if (KEY_KIND == 2u) {
    const bool negative = (key.y >> 31u) == 1u;
    key.x ^= negative ? 0xffffffffu : 0u;
    key.y ^= negative ? 0xffffffffu : 0x80000000u;
  }
  if (DESCENDING == 1u) {
    key.x = ~key.x;
    key.y = ~key.y;
  }
  return key;
}

FUNCTION Key key_restored(Key ordered) {
  if (DESCENDING == 1u) {
    ordered.x = ~ordered.x;
    ordered.y = ~ordered.y;
  }
  if (KEY_KIND == 1u) { ordered.y ^= 0x80000000u; }
  if (KEY_KIND == 2u) {
    const bool negative = (ordered.y >> 31u) == 0u;
    ordered.x ^= negative ? 0xffffffffu : 0u;
    ordered.y ^= negative ? 0xffffffffu : 0x80000000u;
  }
  return ordered;
}

// Behind this one no ordered key sorts: its digits are all 255.
FUNCTION Key ordered_last() {
  Key last;
  last.x = 0xffffffffu;
  last.y = 0xffffffffu;
  return last;
}

// Whether an ordered key sorts before another.
FUNCTION bool ordered_before(Key a, Key b) {
  return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The digit at a place of an ordered key.
FUNCTION u32 ordered_digit(Key ordered, u32 place) {
  return ((place >= 4u ? ordered.y : ordered.x) >> (8u * (place % 4u))) & 255u;
}

// The digit at a place of the key, such that unsigned digits order the keys.
FUNCTION u32 key_digit(Key key, u32 place) {
  return ordered_digit(key_ordered(key), place);
}

FUNCTION u32 key_word(Key key, u32 word) {
  return word == 1u ? key.y : key.x;
}

FUNCTION Key key_with_word(Key key, u32 word, u32 value) {
  if (word == 0u) { key.x = value; }
  if (word == 1u) { key.y = value; }
  return key;
}
