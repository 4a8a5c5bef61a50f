// element/load: elements are loaded PACK at a time.

// The pack at `index`; elements from `n` on are `filler`.
FUNCTION Pack load_pack(Input input, u32 index, u32 n, T filler) {
  const u32 first = index * PACK;
  if (first + PACK <= n) { return load_input(input, index); }
  Pack v;
  // each lane
  v.LANE = filler;
  // each lane but the last
  if (first + LANE < n) { v.LANE = load_input_lane(input, index, LANE); }
  return v;
}
