// scan/spine: the second launch of reduce-then-scan. One workgroup scans the sums of the runs in place, exclusively.

#define SPINE_ITEMS 8u

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_spine(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  T carry = params.initial;
  for (u32 base = 0u; base < params.count; base += WORKGROUP * SPINE_ITEMS) {
    // 1. Each invocation folds sums that lie together.
    const u32 first = base + thread * SPINE_ITEMS;
    T sum = identity();
    for (u32 k = 0u; k < SPINE_ITEMS; k++) {
      if (first + k < params.count) { sum = combine(sum, sums[first + k]); }
    }
    // 2. The workgroup scans them.
    const BlockScan block = block_exclusive_scan(sum, thread);
    // 3. Each sum is replaced by what lies before it.
    T running = combine(carry, block.before);
    for (u32 k = 0u; k < SPINE_ITEMS; k++) {
      if (first + k < params.count) {
        const T next = combine(running, sums[first + k]);
        sums[first + k] = running;
        running = next;
      }
    }
    carry = combine(carry, block.total);
  }
}
