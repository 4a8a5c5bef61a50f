// sort/exchange: a tile's keys in workgroup memory, one word of all keys after the other, and of pairs the indices of their values.

const CAPACITY: u32 = WORKGROUP * ITEMS;
// From one word of the keys to the next: with a place that is read once a run has ended, and whose key nobody takes.
const STRIDE: u32 = CAPACITY + 1u;
// What moves: a key's words and, of a pair, the index of its value.
const MOVED: u32 = KEY_WORDS + min(VALUE_WORDS, 1u);

var<workgroup> exchange: array<u32, MOVED * STRIDE>;

fn key_at(at: u32) -> Key {
  var key = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * STRIDE + at]); }
  return key;
}

fn origin_at(at: u32) -> u32 {
  if (VALUE_WORDS > 0u) { return exchange[(MOVED - 1u) * STRIDE + at]; }
  return 0u;
}

fn put(at: u32, key: Key, origin: u32) {
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { exchange[word * STRIDE + at] = key_word(key, word); }
  if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * STRIDE + at] = origin; }
}
