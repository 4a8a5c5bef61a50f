// workgroup/subgroup_scan_words: subgroup operations on elements of several words, which travel word by word.

fn subgroup_shuffle_element(v: T, lane: u32) -> T {
  var words = element_to_words(v);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroupShuffle(words.w[i], lane); }
  return element_from_words(words);
}

fn subgroup_shuffle_element_up(v: T, delta: u32) -> T {
  var words = element_to_words(v);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroupShuffleUp(words.w[i], delta); }
  return element_from_words(words);
}

fn subgroup_shuffle_element_down(v: T, delta: u32) -> T {
  var words = element_to_words(v);
  // unroll
  for (var i = 0u; i < ELEMENT_WORDS; i++) { words.w[i] = subgroupShuffleDown(words.w[i], delta); }
  return element_from_words(words);
}

// Each lane's inclusive scan over the lanes before it.
fn subgroup_inclusive_scan(v: T, lane: u32) -> T {
  var running = v;
  for (var delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    let before = subgroup_shuffle_element_up(running, delta);
    if (lane >= delta) { running = combine(before, running); }
  }
  return running;
}
