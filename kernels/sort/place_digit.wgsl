// sort/place_digit: digits of 1, 4 or 8 bits, for the classic radix passes.

// The values of a digit.
const RADIX: u32 = 1u << DIGIT_BITS;

// Past the bits that are compared all digits are zeros.
fn place_digit(key: StoredKey, place: u32) -> u32 {
  let bit = min(place * DIGIT_BITS, KEY_WIDTH - 1u);
  return (key_digit(key, bit / 8u) >> (bit % 8u)) & select(0u, RADIX - 1u, place * DIGIT_BITS < KEY_WIDTH);
}
