// top_k/first: the indices of the first K keys of an order. Where there are fewer, none stand behind them.

KERNEL void top_k_first(ARGUMENTS) {
  // 1. Each invocation writes one.
  const u32 at = get_global_id(0);
  if (at >= params.k) { return; }
  u32 index = 0xffffffffu;
  if (at < params.n) { index = places[at]; }
  first[at] = index;
}
