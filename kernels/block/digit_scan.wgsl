// block/digit_scan: an exclusive scan of 256 counts in workgroup memory, by workgroups of any size.

const DIGIT_THREADS: u32 = DIGITS / DIGITS_EACH;

var<workgroup> digit_counts: array<u32, DIGITS>;
var<workgroup> digit_sums: array<u32, DIGIT_THREADS>;

// Replaces digit_counts by its exclusive scan. Begins and ends with a barrier.
fn digit_scan(thread: u32) {
  workgroupBarrier();
  let first = thread * DIGITS_EACH;
  var sum = 0u;
  if (thread < DIGIT_THREADS) {
    for (var i = 0u; i < DIGITS_EACH; i++) { sum += digit_counts[first + i]; }
    digit_sums[thread] = sum;
  }
  var inclusive = sum;
  for (var delta = 1u; delta < DIGIT_THREADS; delta <<= 1u) {
    workgroupBarrier();
    var left = 0u;
    if (thread < DIGIT_THREADS && thread >= delta) { left = digit_sums[thread - delta]; }
    workgroupBarrier();
    inclusive += left;
    if (thread < DIGIT_THREADS) { digit_sums[thread] = inclusive; }
  }
  if (thread < DIGIT_THREADS) {
    var running = inclusive - sum;
    for (var i = 0u; i < DIGITS_EACH; i++) {
      let count = digit_counts[first + i];
      digit_counts[first + i] = running;
      running += count;
    }
  }
  workgroupBarrier();
}
