// top_k/digits: the digits of a key and, at places below these, of its index.

const TOP_PLACE: u32 = INDEX_PLACES + PLACES - 1u;

// The bit of a key where the digit at a place begins.
fn bit_of(place: u32) -> u32 {
  return KEY_FIRST + 8u * (max(place, INDEX_PLACES) - INDEX_PLACES);
}

// The digit of a key, or of its index.
fn digit_of(key: Key, index: u32, place: u32) -> u32 {
  if (place < INDEX_PLACES) { return (index >> (8u * place)) & 255u; }
  return ordered_digit(key, place - INDEX_PLACES);
}

// Whether a key and its index have another's digits above a place.
fn agrees(key: Key, index: u32, other: Key, other_index: u32, place: u32) -> bool {
  if (place == TOP_PLACE) { return true; }
  // The lowest bits that count.
  let key_bit = bit_of(place + 1u);
  let index_bit = 8u * (place + 1u);
  var differing = 0u;
  if (place + 1u < INDEX_PLACES) { differing = (index ^ other_index) >> index_bit; }
  for (var word = 0u; word < KEY_WORDS; word++) {
    let low = max(key_bit, 32u * word) - 32u * word;
    if (low < 32u) { differing |= (key_word(key, word) ^ key_word(other, word)) >> low; }
  }
  return differing == 0u;
}
