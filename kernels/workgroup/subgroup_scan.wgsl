// workgroup/subgroup_scan: subgroup operations on elements of one word, by shuffles. WGSL and CUDA C alone: OpenCL C's three
// subgroup preludes shuffle words, so elements always travel as words there (workgroup/subgroup_scan_words).

fn subgroup_shuffle_element(v: T, lane: u32) -> T {
  return subgroupShuffle(v, lane);
}

fn subgroup_shuffle_element_up(v: T, delta: u32) -> T {
  return subgroupShuffleUp(v, delta);
}

fn subgroup_shuffle_element_down(v: T, delta: u32) -> T {
  return subgroupShuffleDown(v, delta);
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
