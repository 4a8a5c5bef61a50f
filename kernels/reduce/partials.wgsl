// reduce/partials: a workgroup's partial result in 32-bit atomic words, each with 16 bits of the value below a flag. The
// counter of arrivals orders nothing in WGSL, so whoever reads a partial waits for its flags. WGSL and OpenCL C alone, for
// devices without 64-bit atomics: all CUDA devices have them, and `reduce/partials64`.

alias PartialWord = u32;

const PARTIAL_FLAG: u32 = 0x10000u;

fn partial_publish(group: u32, value: T) {
  let first = group * (2u * ELEMENT_WORDS);
  var words = element_to_words(value);
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&partials[first + 2u * i], PARTIAL_FLAG | (words.w[i] & 0xffffu));
    atomicStore(&partials[first + 2u * i + 1u], PARTIAL_FLAG | (words.w[i] >> 16u));
  }
}

// Waits for a partial, whose words are read all at once, and leaves them clean for the next run; the identity where workgroups are
// not so many. All invocations call it together: alone in a branch, a few lanes of a subgroup would take longer.
fn partial_take(group: u32, groups: u32) -> T {
  let mine = group < groups;
  let first = min(group, groups - 1u) * (2u * ELEMENT_WORDS);
  var low: Words;
  var high: Words;
  var missing = true;
  while (missing) {
    // unroll
    for (var i = 0u; i < ELEMENT_WORDS; i++) {
      low.w[i] = atomicLoad(&partials[first + 2u * i]);
      high.w[i] = atomicLoad(&partials[first + 2u * i + 1u]);
    }
    missing = false;
    // unroll
    for (var i = 0u; i < ELEMENT_WORDS; i++) { missing = missing | (mine & ((low.w[i] == 0u) | (high.w[i] == 0u))); }
  }
  if (!mine) { return identity(); }
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&partials[first + 2u * i], 0u);
    atomicStore(&partials[first + 2u * i + 1u], 0u);
    low.w[i] = (low.w[i] & 0xffffu) | (high.w[i] << 16u);
  }
  return element_from_words(low);
}
