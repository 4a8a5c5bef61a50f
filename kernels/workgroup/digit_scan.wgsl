// workgroup/digit_scan: an exclusive scan of 256 counts in workgroup memory, by workgroups of any size.

const DIGIT_THREADS: u32 = DIGITS / DIGITS_EACH;

var<workgroup> digit_counts: array<u32, DIGITS>;
var<workgroup> digit_sums: array<u32, MAX_SUBGROUPS>;

// Replaces digit_counts by its exclusive scan. Begins and ends with a barrier.
fn digit_scan(lane: u32, width: u32, subgroup: u32) {
  workgroupBarrier();
  let seat = subgroup * width + lane;
  let first = seat * DIGITS_EACH;
  var sum = 0u;
  if (seat < DIGIT_THREADS) {
    for (var i = 0u; i < DIGITS_EACH; i++) { sum += digit_counts[first + i]; }
  }
  let inclusive = subgroup_inclusive_sum(sum, lane);
  if (lane == width - 1u) { digit_sums[subgroup] = inclusive; }
  workgroupBarrier();
  if (seat < DIGIT_THREADS) {
    var running = inclusive - sum;
    for (var s = 0u; s < subgroup; s++) { running += digit_sums[s]; }
    for (var i = 0u; i < DIGITS_EACH; i++) {
      let count = digit_counts[first + i];
      digit_counts[first + i] = running;
      running += count;
    }
  }
  workgroupBarrier();
}
