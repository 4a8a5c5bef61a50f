// top_k/candidates: the candidates' keys, by their indices. Reads as many keys as there are candidates, and writes as many as there is room
// for.

KERNEL void top_k_candidates(ARGUMENTS) {
  input += params.input_offset;
  const u32 at = get_global_id(0);
  if (at >= params.room) { return; }
  // 1. Behind the candidates stand keys that come last.
  StoredKey key = key_restored(ordered_last());
  const u32 index = candidates[at];
  if (index < params.n) { key = load_input(input, index); }
  keys[at] = key;
}
