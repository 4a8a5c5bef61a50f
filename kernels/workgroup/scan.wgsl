// workgroup/scan: a workgroup's elements scanned in the order of its invocations, in workgroup memory (Hillis and Steele; two buffers
// in turn, as GPU Gems 3, example 39-1).

var<workgroup> scan_shared: array<T, 2u * WORKGROUP>;

struct BlockScan {
  before: T,
  total: T,
}

fn block_exclusive_scan(v: T, thread: u32) -> BlockScan {
  workgroupBarrier();
  scan_shared[thread] = v;
  var running = v;
  var buffer = 0u;
  for (var delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroupBarrier();
    if (thread >= delta) { running = combine(scan_shared[buffer + thread - delta], running); }
    buffer = WORKGROUP - buffer;
    scan_shared[buffer + thread] = running;
  }
  workgroupBarrier();
  var result = BlockScan(identity(), scan_shared[buffer + WORKGROUP - 1u]);
  if (thread > 0u) { result.before = scan_shared[buffer + thread - 1u]; }
  return result;
}
