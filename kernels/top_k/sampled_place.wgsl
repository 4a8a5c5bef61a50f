// top_k/sampled_place: where the sampled keys are.

// Each is in a part of its own of the input, at a place there that no pattern of the keys follows.
fn sampled_place(number: u32, n: u32) -> u32 {
  let each = n / SAMPLES;
  let more = n % SAMPLES;
  let first = number * each + number * more / SAMPLES;
  let end = (number + 1u) * each + (number + 1u) * more / SAMPLES;
  var mixed = number * 0x9e3779b9u;
  mixed = (mixed ^ (mixed >> 16u)) * 0x85ebca6bu;
  mixed = (mixed ^ (mixed >> 13u)) * 0xc2b2ae35u;
  mixed ^= mixed >> 16u;
  return min(first + mixed % max(end - first, 1u), n - 1u);
}
