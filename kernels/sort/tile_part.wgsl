// sort/tile_part: the part of a tile that is in workgroup memory, in order.

// Rows of a key an invocation, in a part.
const PART_ROWS: u32 = (ITEMS + PARTS - 1u) / PARTS;
const PART: u32 = PART_ROWS * WORKGROUP;
// What moves: a key's words and, of a pair, a part of its value at a time.
const MOVED: u32 = KEY_WORDS + min(VALUE_WORDS, 1u) * VALUE_SIZE;

// One word of all keys after the other.
var<workgroup> exchange: array<u32, MOVED * PART>;

fn exchanged_key(at: u32) -> Key {
  var key = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * PART + at]); }
  return key;
}
