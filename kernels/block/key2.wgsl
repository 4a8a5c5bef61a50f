// block/key2: keys of two words, the lower one first, and the bits that order them. No 64-bit integers needed.

alias Key = vec2<u32>;

// The digit at a place of the key, such that unsigned digits order the keys.
fn key_digit(key: Key, place: u32) -> u32 {
  var bits = key;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { bits.y ^= 0x80000000u; }
  if (KEY_KIND == 2u) {
    let negative = (bits.y >> 31u) == 1u;
    bits.x ^= select(0u, 0xffffffffu, negative);
    bits.y ^= select(0x80000000u, 0xffffffffu, negative);
  }
  let word = select(bits.x, bits.y, place >= 4u);
  let digit = (word >> (8u * (place % 4u))) & 255u;
  return select(digit, 255u - digit, DESCENDING == 1u);
}

// A key behind which no key sorts: its digits are all 255.
fn key_last() -> Key {
  if (KEY_KIND == 0u) { return select(Key(0xffffffffu, 0xffffffffu), Key(0u, 0u), DESCENDING == 1u); }
  if (KEY_KIND == 1u) { return select(Key(0xffffffffu, 0x7fffffffu), Key(0u, 0x80000000u), DESCENDING == 1u); }
  return select(Key(0xffffffffu, 0x7fffffffu), Key(0xffffffffu, 0xffffffffu), DESCENDING == 1u);
}

fn key_word(key: Key, word: u32) -> u32 {
  return select(key.x, key.y, word == 1u);
}

fn key_with_word(key: Key, word: u32, value: u32) -> Key {
  return Key(select(key.x, value, word == 0u), select(key.y, value, word == 1u));
}
