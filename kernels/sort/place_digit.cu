// sort/place_digit: digits of 1, 4 or 8 bits, for the classic radix passes.

// The values of a digit.
#define RADIX (1u << DIGIT_BITS)

// Past the bits that are compared all digits are zeros.
FUNCTION u32 place_digit(StoredKey key, u32 place) {
  const u32 bit = min(place * DIGIT_BITS, KEY_WIDTH - 1u);
  return (key_digit(key, bit / 8u) >> (bit % 8u)) & (place * DIGIT_BITS < KEY_WIDTH ? RADIX - 1u : 0u);
}
