// top_k/give: what is wanted of the keys that come first. Reads and writes K keys, values or indices.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_give(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  input += params.input_offset;
  input_values += params.input_values_offset;
  target_keys += params.target_offset;
  target_values += params.target_values_offset;
  const u32 at = blockIdx.x * WORKGROUP + threadIdx.x;
  if (at >= min(params.k, params.n)) { return; }
  // 1. Find where the key is.
  u32 index = places[at];
  // with HAS_CANDIDATES
  index = candidates[index];
  index = min(index, params.n - 1u);
  // 2. Write it, and what goes beside it.
  // with GIVES_KEYS
  target_keys[at] = load_input(input, index);
  // with VALUE_WORDS
  give_value(input_values, target_values, at, index);
}
