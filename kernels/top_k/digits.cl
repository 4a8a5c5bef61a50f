// top_k/digits: the digits of a key and, at places below these, of its index.

#define TOP_PLACE (INDEX_PLACES + PLACES - 1u)

// The bit of a key where the digit at a place begins.
u32 bit_of(u32 place) {
  return KEY_FIRST + 8u * (max(place, (u32)INDEX_PLACES) - INDEX_PLACES);
}

// The digit of a key, or of its index.
u32 digit_of(Key key, u32 index, u32 place) {
  if (place < INDEX_PLACES) { return (index >> (8u * place)) & 255u; }
  return ordered_digit(key, place - INDEX_PLACES);
}

// Whether a key and its index have another's digits above a place.
bool agrees(Key key, u32 index, Key other, u32 other_index, u32 place) {
  if (place == TOP_PLACE) { return true; }
  // The lowest bits that count.
  const u32 key_bit = bit_of(place + 1u);
  const u32 index_bit = 8u * (place + 1u);
  u32 differing = 0u;
  if (place + 1u < INDEX_PLACES) { differing = (index ^ other_index) >> index_bit; }
  for (u32 word = 0u; word < KEY_WORDS; word++) {
    const u32 low = max(key_bit, 32u * word) - 32u * word;
    if (low < 32u) { differing |= (key_word(key, word) ^ key_word(other, word)) >> low; }
  }
  return differing == 0u;
}
