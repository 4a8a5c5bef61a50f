// sort/downsweep: the last launch of a classic radix pass: sorts a tile by its digits, ROUND keys at a time, with one-bit splits
// (GPU Gems 3, 39.3.3), and scatters it. Needs no subgroups. Reads each key twice, the second time out of
// order and soon, from a cache, and writes it once.

const ROUND: u32 = WORKGROUP * ITEMS;
const TILE: u32 = ROUND * ROUNDS;

// A digit above the index in the round of the key that has it.
var<workgroup> exchange: array<u32, ROUND>;
var<workgroup> zeros_shared: array<u32, WORKGROUP>;
var<workgroup> digit_first: array<u32, RADIX>;
// Where the next key of each digit goes.
var<workgroup> digit_next: array<u32, RADIX>;

@compute @workgroup_size(WORKGROUP)
fn sort_downsweep(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  if (tile >= params.tiles) { return; }
  // 1. Where the tile's first key of each digit goes.
  for (var digit = thread; digit < RADIX; digit += WORKGROUP) {
    digit_next[digit] = counts[digit * params.tiles + tile];
  }
  for (var round = 0u; round < ROUNDS; round++) {
    let start = tile * TILE + round * ROUND;
    if (start >= params.n) { break; }
    let valid = min(params.n - start, ROUND);
    workgroupBarrier();
    // 2. The round's digits. Places past the end count as the last digit, behind all keys.
    var items: array<u32, ITEMS>;
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let index = thread * ITEMS + k;
      var digit = RADIX - 1u;
      if (index < valid) { digit = place_digit(load_source(params.source_offset + start + index), params.place); }
      items[k] = (digit << 16u) | index;
    }
    // 3. A split for each bit of the digit: the zeros go before the ones, in order.
    for (var bit = 16u; bit < 16u + DIGIT_BITS; bit++) {
      var zeros = 0u;
      // unroll
      for (var k = 0u; k < ITEMS; k++) { zeros += 1u - ((items[k] >> bit) & 1u); }
      var inclusive = zeros;
      zeros_shared[thread] = zeros;
      for (var delta = 1u; delta < WORKGROUP; delta <<= 1u) {
        workgroupBarrier();
        var left = 0u;
        if (thread >= delta) { left = zeros_shared[thread - delta]; }
        workgroupBarrier();
        inclusive += left;
        zeros_shared[thread] = inclusive;
      }
      workgroupBarrier();
      let all_zeros = zeros_shared[WORKGROUP - 1u];
      var zero = inclusive - zeros;
      var one = all_zeros + thread * ITEMS - zero;
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        if (((items[k] >> bit) & 1u) == 0u) {
          exchange[zero] = items[k];
          zero++;
        } else {
          exchange[one] = items[k];
          one++;
        }
      }
      workgroupBarrier();
      // unroll
      for (var k = 0u; k < ITEMS; k++) { items[k] = exchange[thread * ITEMS + k]; }
    }
    // 4. Where each digit begins in the round.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = thread * ITEMS + k;
      let digit = items[k] >> 16u;
      var starts = at == 0u;
      if (at > 0u) { starts = (exchange[at - 1u] >> 16u) != digit; }
      if (starts) { digit_first[digit] = at; }
    }
    workgroupBarrier();
    // 5. Scatter: neighbours of one digit go to neighbouring places.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < valid) {
        let digit = exchange[at] >> 16u;
        let index = start + (exchange[at] & 0xffffu);
        let goal = digit_next[digit] + at - digit_first[digit];
        store_target_keys(params.target_offset + goal, load_source(params.source_offset + index));
        // with VALUE_WORDS
        move_value(index, goal, index);
      }
    }
    workgroupBarrier();
    // 6. The next round's keys go behind these.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < valid) {
        let digit = exchange[at] >> 16u;
        var ends = at + 1u == valid;
        if (at + 1u < valid) { ends = (exchange[at + 1u] >> 16u) != digit; }
        if (ends) { digit_next[digit] += at + 1u - digit_first[digit]; }
      }
    }
  }
}
