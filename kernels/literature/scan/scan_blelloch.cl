// literature/scan/scan_blelloch: a workgroup's elements scanned in the order of its invocations, by a tree in workgroup memory (Blelloch
// 1990; GPU Gems 3, 39.2.2). With PADDING an element is left out after every 32, so that lanes keep off each other's banks
// (39.2.3).

typedef struct {
  T before;
  T total;
} BlockScan;

u32 scan_at(u32 index) {
  return index + PADDING * (index / 32u);
}

BlockScan block_exclusive_scan(T v, u32 thread, __local T *scan_shared) {
  workgroup_barrier();
  scan_shared[scan_at(thread)] = v;
  // 1. Up-sweep: each node becomes the sum of what is below it.
  for (u32 distance = 1u; distance < WORKGROUP; distance <<= 1u) {
    workgroup_barrier();
    const u32 right = 2u * distance * (thread + 1u) - 1u;
    if (right < WORKGROUP) {
      scan_shared[scan_at(right)] = combine(scan_shared[scan_at(right - distance)], scan_shared[scan_at(right)]);
    }
  }
  workgroup_barrier();
  const T total = scan_shared[scan_at(WORKGROUP - 1u)];
  workgroup_barrier();
  // 2. Clear: nothing lies before the root.
  if (thread == 0u) { scan_shared[scan_at(WORKGROUP - 1u)] = identity(); }
  // 3. Down-sweep: a node hands what lies before it to its left child, and that with the left child's sum to its right one.
  for (u32 distance = WORKGROUP / 2u; distance > 0u; distance >>= 1u) {
    workgroup_barrier();
    const u32 right = 2u * distance * (thread + 1u) - 1u;
    if (right < WORKGROUP) {
      const T left_sum = scan_shared[scan_at(right - distance)];
      const T before = scan_shared[scan_at(right)];
      scan_shared[scan_at(right - distance)] = before;
      scan_shared[scan_at(right)] = combine(before, left_sum);
    }
  }
  workgroup_barrier();
  BlockScan result = {scan_shared[scan_at(thread)], total};
  return result;
}
