// top_k/give: what is wanted of the keys that come first. Reads and writes K keys, values or indices, or as many of each segment.

KERNEL void top_k_give(ARGUMENTS) {
  input += params.input_offset;
  input_values += params.input_values_offset;
  target_keys += params.target_offset;
  target_values += params.target_values_offset;
  const u32 at = get_global_id(0);
  const u32 segment = at / params.k;
  if (at >= params.most || segment >= params.segments) { return; }
  // 1. Find where the key is.
  u32 index = at;
  // with HAS_PLACES
  index = places[at];
  // 2. Write it, and what goes beside it.
  // with GIVES_KEYS
  give_key(input, target_keys, params.n, at, KEYS_ORDERED > 0u ? at : index);
  // with VALUE_WORDS
  give_value(input_values, target_values, params.n, at, index, segment_begin(offsets, params, segment, params.n));
}
