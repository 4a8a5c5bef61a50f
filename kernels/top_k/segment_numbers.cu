// top_k/segment_numbers: the segment of each place of an order, of K places each. Reads and writes as many words as there are places.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_segment_numbers(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  // 1. Each invocation writes one.
  const u32 at = blockIdx.x * WORKGROUP + threadIdx.x;
  if (at < params.slots) { numbers[at] = places[at] / params.k; }
}
