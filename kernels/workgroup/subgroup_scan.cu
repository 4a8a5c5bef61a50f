// workgroup/subgroup_scan: subgroup operations on elements of one word, by shuffles. WGSL and CUDA C alone: OpenCL C's three
// subgroup preludes shuffle words, so elements always travel as words there (workgroup/subgroup_scan_words).

FUNCTION T subgroup_shuffle_element(T v, u32 lane) {
  return __shfl_sync(0xffffffffu, v, lane);
}

FUNCTION T subgroup_shuffle_element_up(T v, u32 delta) {
  return __shfl_up_sync(0xffffffffu, v, delta);
}

FUNCTION T subgroup_shuffle_element_down(T v, u32 delta) {
  return __shfl_down_sync(0xffffffffu, v, delta);
}

// Each lane's inclusive scan over the lanes before it.
FUNCTION T subgroup_inclusive_scan(T v, u32 lane) {
  T running = v;
#pragma unroll
  for (u32 delta = 1u; delta < SUBGROUP_MAX; delta <<= 1u) {
    const T before = subgroup_shuffle_element_up(running, delta);
    if (lane >= delta) { running = combine(before, running); }
  }
  return running;
}
