// sort/place_digit: digits of 1, 4 or 8 bits, for the classic radix passes.

// The values of a digit.
const RADIX: u32 = 1u << DIGIT_BITS;

fn place_digit(key: Key, place: u32) -> u32 {
  let bit = place * DIGIT_BITS;
  return (key_digit(key, bit / 8u) >> (bit % 8u)) & (RADIX - 1u);
}
