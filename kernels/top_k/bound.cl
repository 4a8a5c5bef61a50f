// top_k/bound: chooses the key of the sample up to which keys are candidates. In one workgroup.
//
// Of K keys that are wanted, K * SAMPLES / n are expected in the sample. How many there are varies as a Poisson variable does, so that
// a key five standard deviations and a few places behind is hardly ever too early.

// The rank of the key in the sample, from 1 on.
u32 bound_rank(u32 n, u32 k) {
  const f32 expected = (f32)k / (f32)n * (f32)SAMPLES;
  return (u32)min(ceil(expected + 5.0f * sqrt(expected) + 3.0f), (f32)SAMPLES + 1.0f);
}

KERNEL void top_k_bound(ARGUMENTS) {
  const u32 thread = get_local_id(0);
  // 1. Clear the counts.
  for (u32 i = BOUND_COUNTS + thread; i < BOUND_WORDS; i += WORKGROUP) { bound[i] = 0u; }
  if (thread > 0u) { return; }
  bound[BOUND_FOUND] = 0u;
  bound[BOUND_ARRIVALS] = 0u;
  bound[BOUND_IS_EXACT] = 0u;
  // 2. Where there is room for all keys, or the sample has too few, no key is past the bound.
  Key key = ordered_last();
  u32 index = 0xffffffffu;
  if (params.n > params.room) {
    const u32 rank = bound_rank(params.n, params.k);
    if (rank <= SAMPLES) {
      const u32 number = places[rank - 1u];
      key = key_ordered(sample[number]);
      index = sampled_place(number, params.n);
    }
  }
  for (u32 word = 0u; word < KEY_WORDS; word++) { bound[word] = key_word(key, word); }
  bound[BOUND_INDEX] = index;
}
