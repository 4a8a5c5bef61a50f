// literature/scan/scan_blelloch: a workgroup's elements scanned in the order of its invocations, by a tree in workgroup memory (Blelloch
// 1990; GPU Gems 3, 39.2.2). With PADDING an element is left out after every 32, so that lanes keep off each other's banks
// (39.2.3).

var<workgroup> scan_shared: array<T, 2u * WORKGROUP>;

struct BlockScan {
  before: T,
  total: T,
}

fn scan_at(index: u32) -> u32 {
  return index + PADDING * (index / 32u);
}

fn block_exclusive_scan(v: T, thread: u32) -> BlockScan {
  workgroupBarrier();
  scan_shared[scan_at(thread)] = v;
  // 1. Up-sweep: each node becomes the sum of what is below it.
  for (var distance = 1u; distance < WORKGROUP; distance <<= 1u) {
    workgroupBarrier();
    let right = 2u * distance * (thread + 1u) - 1u;
    if (right < WORKGROUP) {
      scan_shared[scan_at(right)] = combine(scan_shared[scan_at(right - distance)], scan_shared[scan_at(right)]);
    }
  }
  workgroupBarrier();
  let total = scan_shared[scan_at(WORKGROUP - 1u)];
  workgroupBarrier();
  // 2. Clear: nothing lies before the root.
  if (thread == 0u) { scan_shared[scan_at(WORKGROUP - 1u)] = identity(); }
  // 3. Down-sweep: a node hands what lies before it to its left child, and that with the left child's sum to its right one.
  for (var distance = WORKGROUP / 2u; distance > 0u; distance >>= 1u) {
    workgroupBarrier();
    let right = 2u * distance * (thread + 1u) - 1u;
    if (right < WORKGROUP) {
      let left_sum = scan_shared[scan_at(right - distance)];
      let before = scan_shared[scan_at(right)];
      scan_shared[scan_at(right - distance)] = before;
      scan_shared[scan_at(right)] = combine(before, left_sum);
    }
  }
  workgroupBarrier();
  return BlockScan(scan_shared[scan_at(thread)], total);
}
