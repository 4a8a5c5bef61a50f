// top_k/segment_numbers: the segment of each place of an order, of K places each. Reads and writes as many words as there are places.

KERNEL void top_k_segment_numbers(ARGUMENTS) {
  // 1. Each invocation writes one.
  const u32 at = get_global_id(0);
  if (at < params.slots) { numbers[at] = places[at] / params.k; }
}
