// sort/place_digit: digits of 1, 4 or 8 bits, for the classic radix passes.

// The values of a digit.
#define RADIX (1u << DIGIT_BITS)

FUNCTION u32 place_digit(Key key, u32 place) {
  const u32 bit = place * DIGIT_BITS;
  return (key_digit(key, bit / 8u) >> (bit % 8u)) & (RADIX - 1u);
}
