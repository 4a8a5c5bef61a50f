// top_k/candidates: the candidates' keys, by their indices. Reads as many keys as there are candidates, and writes as many as there is room
// for.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_candidates(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  input += params.input_offset;
  const u32 at = blockIdx.x * WORKGROUP + threadIdx.x;
  if (at >= params.room) { return; }
  // 1. Behind the candidates stand keys that come last.
  StoredKey key = key_restored(ordered_last());
  if (at < bound[BOUND_FOUND]) { key = load_input(input, candidates[at]); }
  keys[at] = key;
}
