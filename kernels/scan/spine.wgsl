// scan/spine: the second launch of reduce-then-scan. One workgroup scans the sums of the runs in place, exclusively.

const SPINE_ITEMS: u32 = 8u;

@compute @workgroup_size(WORKGROUP)
fn scan_spine(@builtin(local_invocation_index) thread: u32) {
  var carry = params.initial;
  for (var base = 0u; base < params.count; base += WORKGROUP * SPINE_ITEMS) {
    // 1. Each invocation folds sums that lie together.
    let first = base + thread * SPINE_ITEMS;
    var sum = identity();
    for (var k = 0u; k < SPINE_ITEMS; k++) {
      if (first + k < params.count) { sum = combine(sum, sums[first + k]); }
    }
    // 2. The workgroup scans them.
    let block = block_exclusive_scan(sum, thread);
    // 3. Each sum is replaced by what lies before it.
    var running = combine(carry, block.before);
    for (var k = 0u; k < SPINE_ITEMS; k++) {
      if (first + k < params.count) {
        let next = combine(running, sums[first + k]);
        sums[first + k] = running;
        running = next;
      }
    }
    carry = combine(carry, block.total);
  }
}
