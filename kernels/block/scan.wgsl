// block/scan: a workgroup's elements scanned in the order of its invocations, in workgroup memory (Hillis and Steele).

var<workgroup> scan_shared: array<T, WORKGROUP>;

struct BlockScan {
  before: T,
  total: T,
}

fn block_exclusive_scan(v: T, thread: u32) -> BlockScan {
  workgroupBarrier();
  scan_shared[thread] = v;
  var running = v;
  for (var delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroupBarrier();
    var left = identity();
    if (thread >= delta) { left = scan_shared[thread - delta]; }
    workgroupBarrier();
    running = combine(left, running);
    scan_shared[thread] = running;
  }
  workgroupBarrier();
  var result = BlockScan(identity(), scan_shared[WORKGROUP - 1u]);
  if (thread > 0u) { result.before = scan_shared[thread - 1u]; }
  return result;
}
