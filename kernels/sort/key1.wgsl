// sort/key1: keys of one word, and the bits that order them.

alias Key = u32;

// The key as an unsigned number that orders it among the others.
fn key_ordered(key: Key) -> Key {
  var bits = key;
  // Signed integers: the sign bit counts down. Floats: negative ones count down altogether (IEEE totalOrder).
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u); }
  return select(bits, ~bits, DESCENDING == 1u);
}

fn key_restored(ordered: Key) -> Key {
  var bits = select(ordered, ~ordered, DESCENDING == 1u);
  if (KEY_KIND == 1u) { bits ^= 0x80000000u; }
  if (KEY_KIND == 2u) { bits ^= select(0xffffffffu, 0x80000000u, (bits >> 31u) == 1u); }
  return bits;
}

// Behind this one no ordered key sorts: its digits are all 255.
fn ordered_last() -> Key {
  return 0xffffffffu;
}

// Whether an ordered key sorts before another.
fn ordered_before(a: Key, b: Key) -> bool {
  return a < b;
}

// The digit at a place of an ordered key.
fn ordered_digit(ordered: Key, place: u32) -> u32 {
  return (ordered >> (8u * place)) & 255u;
}

// The digit at a place of the key, such that unsigned digits order the keys.
fn key_digit(key: Key, place: u32) -> u32 {
  return ordered_digit(key_ordered(key), place);
}

fn key_word(key: Key, word: u32) -> u32 {
  return key;
}

fn key_with_word(key: Key, word: u32, value: u32) -> Key {
  return value;
}
