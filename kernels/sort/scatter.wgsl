// sort/scatter: brings a tile's keys and values in order through workgroup memory, and scatters them. In parts, one after
// the other, so that a workgroup takes less of that memory. WGSL alone: through Vulkan parts are faster
// (docs/notebook.md), while OpenCL C and CUDA C bring a whole tile in order, its keys before they look back.

// Words that hold two places in the tile each.
const POSITION_WORDS: u32 = (ITEMS + 1u) / 2u;
// `positions` are where this invocation's keys go in the tile, `moved` their values' first parts. Begins with a barrier.
fn scatter(
  source: u32,
  destination: u32,
  first: u32,
  width: u32,
  thread: u32,
  valid: u32,
  keys: ptr<function, array<Key, ITEMS>>,
  positions: ptr<function, array<u32, POSITION_WORDS>>,
  moved: ptr<function, array<Value, ITEMS>>,
) {
  for (var value_word = 0u; value_word < max(VALUE_WORDS, 1u); value_word++) {
    // with VALUE_WORDS
    if (value_word > 0u) { load_values(source, first, width, value_word, moved); }
    for (var part_first = 0u; part_first < valid; part_first += PART) {
      workgroupBarrier();
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = (((*positions)[k / 2u] >> (16u * (k % 2u))) & 0xffffu) - part_first;
        if (at < PART) {
          // unroll
          for (var word = 0u; word < KEY_WORDS; word++) { exchange[word * PART + at] = key_word((*keys)[k], word); }
          // unroll
          for (var word = 0u; word < VALUE_SIZE; word++) {
            if (VALUE_WORDS > 0u) { exchange[(KEY_WORDS + word) * PART + at] = word_of_value((*moved)[k], word); }
          }
        }
      }
      workgroupBarrier();

      let count = min(valid - part_first, PART);
      for (var row = 0u; row < PART_ROWS; row += BATCH) {
        var sorted: array<Key, BATCH>;
        var targets: array<u32, BATCH>;
        // unroll
        for (var k = 0u; k < BATCH; k++) {
          let at = (row + k) * WORKGROUP + thread;
          sorted[k] = exchanged_key(min(at, PART - 1u));
          targets[k] = part_first + at + digit_bases[ordered_digit(sorted[k], params.place)];
        }
        let begin = row * WORKGROUP + thread;
        if (value_word == 0u && (VALUES_ALONE == 0u || destination != BUFFER_NONE)) { store_keys(destination, begin, count, &sorted, &targets); }
        // with VALUE_WORDS
        store_values(destination, value_word, begin, count, &targets);
      }
    }
  }
}
