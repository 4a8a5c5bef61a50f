// block/key1: keys of one word, and the bits that order them.

alias Key = u32;

// The digit at a place of the key, such that unsigned digits order the keys.
fn key_digit(key: Key, place: u32) -> u32 {
  var bits = key;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u); }
  let digit = (bits >> (8u * place)) & 255u;
  return select(digit, 255u - digit, DESCENDING == 1u);
}

// A key behind which no key sorts: its digits are all 255.
fn key_last() -> Key {
  if (KEY_KIND == 0u) { return select(0xffffffffu, 0u, DESCENDING == 1u); }
  if (KEY_KIND == 1u) { return select(0x7fffffffu, 0x80000000u, DESCENDING == 1u); }
  return select(0x7fffffffu, 0xffffffffu, DESCENDING == 1u);
}

fn key_word(key: Key, word: u32) -> u32 {
  return key;
}

fn key_with_word(key: Key, word: u32, value: u32) -> Key {
  return value;
}
