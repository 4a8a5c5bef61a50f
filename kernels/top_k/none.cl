// top_k/none: what segments give that have no keys: zeros, and the greatest word for a place.

KERNEL void top_k_none(ARGUMENTS) {
  target_keys += params.target_offset;
  target_values += params.target_values_offset;
  const u32 at = get_global_id(0);
  if (at >= params.most) { return; }
  // 1. Each invocation writes those of one place.
  // with GIVES_KEYS
  target_keys[at] = key_zero();
  const size_t first = (size_t)at * VALUE_WORDS;
  // with VALUE_WORDS
  for (u32 word = 0u; word < VALUE_WORDS; word++) { target_values[first + word] = value_of_place(NO_VALUE); }
}
