// top_k/first: the indices of the first K keys of an order. Where there are fewer, none stand behind them.

extern "C" __global__ void __launch_bounds__(WORKGROUP) top_k_first(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  // 1. Each invocation writes one.
  const u32 at = blockIdx.x * WORKGROUP + threadIdx.x;
  if (at >= params.k) { return; }
  u32 index = 0xffffffffu;
  if (at < params.n) { index = places[at]; }
  first[at] = index;
}
