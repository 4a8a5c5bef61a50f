// reduce/partials64: a workgroup's partial result in 64-bit atomic words, each with 32 bits of the value below a flag. The counter of
// arrivals orders nothing in WGSL, so whoever reads a partial waits for its flags.

alias PartialWord = u64;

const PARTIAL_FLAG: u64 = 0x100000000lu;

fn partial_publish(group: u32, value: T) {
  let first = group * ELEMENT_WORDS;
  var words = element_to_words(value);
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&partials[first + i], PARTIAL_FLAG | u64(words.w[i]));
  }
}

// Waits for a partial, whose words are read all at once, and leaves them clean for the next run; the identity where workgroups are
// not so many. All invocations call it together: alone in a branch, a few lanes of a subgroup would take longer.
fn partial_take(group: u32, groups: u32) -> T {
  let mine = group < groups;
  let first = min(group, groups - 1u) * ELEMENT_WORDS;
  var flagged: array<u64, ELEMENT_WORDS>;
  var missing = true;
  while (missing) {
    // unroll
    for (var i = 0u; i < ELEMENT_WORDS; i++) { flagged[i] = atomicLoad(&partials[first + i]); }
    missing = false;
    // unroll
    for (var i = 0u; i < ELEMENT_WORDS; i++) { missing = missing | (mine & (flagged[i] == 0lu)); }
  }
  if (!mine) { return identity(); }
  var words: Words;
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) {
    atomicStore(&partials[first + i], 0lu);
    words.w[i] = u32(flagged[i] & 0xfffffffflu);
  }
  return element_from_words(words);
}
