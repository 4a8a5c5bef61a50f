// top_k/sampled_place: where the sampled keys are.

// Each is in a part of its own of the input, at a place there that no pattern of the keys follows.
FUNCTION u32 sampled_place(u32 number, u32 n) {
  const u32 each = n / SAMPLES;
  const u32 more = n % SAMPLES;
  const u32 first = number * each + number * more / SAMPLES;
  const u32 end = (number + 1u) * each + (number + 1u) * more / SAMPLES;
  u32 mixed = number * 0x9e3779b9u;
  mixed = (mixed ^ mixed >> 16u) * 0x85ebca6bu;
  mixed = (mixed ^ mixed >> 13u) * 0xc2b2ae35u;
  mixed ^= mixed >> 16u;
  return min(first + mixed % max(end - first, 1u), n - 1u);
}
