// block/partials: a workgroup's partial result in 32-bit atomic words, each with 16 bits of the value below a flag. The
// counter of arrivals orders nothing in WGSL, so whoever reads a partial waits for its flags.

@group(0) @binding(2) var<storage, read_write> partials: array<atomic<u32>>;

const PARTIAL_FLAG: u32 = 0x10000u;

fn partial_publish(group: u32, value: T) {
  let first = group * (2u * ELEMENT_WORDS);
  var words = element_to_words(value);
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&partials[first + 2u * i], PARTIAL_FLAG | (words.w[i] & 0xffffu));
    atomicStore(&partials[first + 2u * i + 1u], PARTIAL_FLAG | (words.w[i] >> 16u));
  }
}

// Waits for a word that has been written, and leaves it clean for the next run.
fn partial_take_word(index: u32) -> u32 {
  var word = atomicLoad(&partials[index]);
  while (word == 0u) { word = atomicLoad(&partials[index]); }
  atomicStore(&partials[index], 0u);
  return word & 0xffffu;
}

fn partial_take(group: u32) -> T {
  let first = group * (2u * ELEMENT_WORDS);
  var words: Words;
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    let low = partial_take_word(first + 2u * i);
    words.w[i] = low | (partial_take_word(first + 2u * i + 1u) << 16u);
  }
  return element_from_words(words);
}
