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
  const u32 index = candidates[at];
  if (index < params.n) { key = load_input(input, index); }
  keys[at] = key;
}
