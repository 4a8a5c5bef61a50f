// sort/fill: keys of eight bits in order, by how many there are of each. Writes each key once, and reads none.

// Bytes that an invocation writes at once.
const UNIT: u32 = 4u;

var<workgroup> shared_arrivals: u32;

// Where keys begin whose digit is larger.
fn digit_end(digit: u32) -> u32 {
  return select(params.n, digit_counts[min(digit + 1u, DIGITS - 1u)], digit + 1u < DIGITS);
}

@compute @workgroup_size(WORKGROUP)
fn sort_fill(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
) {
  // 1. Find where each digit's keys begin.
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    digit_counts[digit] = atomicLoad(&counts[key_restored(digit) & 255u]);
  }
  digit_scan(lane, width, subgroup);
  // 2. This workgroup has read the counts.
  var arrivals = 0u;
  if (thread == 0u) { arrivals = atomicAdd(&counts[DIGITS], 1u) + 1u; }
  // 3. Write what is this invocation's turn, by units that begin at multiples of their size. The output may begin and end within one.
  let lead = params.output_offset % UNIT;
  let first = params.output_offset / UNIT;
  let past = lead + params.n;
  for (var unit = id.x * WORKGROUP + thread; unit < (past + UNIT - 1u) / UNIT; unit += params.groups * WORKGROUP) {
    let begin = max(unit * UNIT, lead);
    let end = min(unit * UNIT + UNIT, past);
    // 4. Search for the first key's digit: the last that begins no later.
    var digit = 0u;
    for (var step = DIGITS / 2u; step > 0u; step /= 2u) {
      if (digit_counts[digit + step] <= begin - lead) { digit += step; }
    }
    var word = 0u;
    if (digit_end(digit) >= end - lead) {
      // 5. Most units are of one key.
      word = (key_restored(digit) & 255u) * 0x1010101u;
    } else {
      // 6. In the others keys follow one another.
      for (var at = begin; at < end; at++) {
        while (digit_end(digit) <= at - lead) { digit++; }
        word |= (key_restored(digit) & 255u) << (8u * (at % UNIT));
      }
    }
    // 7. Store a unit at once, or what of it is the output's.
    let mask = (0xffffffffu << (8u * (begin % UNIT))) & (0xffffffffu >> (8u * (unit * UNIT + UNIT - end)));
    merge_output(first + unit, mask, word & mask);
  }
  // 8. The last one that has leaves the scratch clean.
  if (thread == 0u) { shared_arrivals = arrivals; }
  if (workgroupUniformLoad(&shared_arrivals) == params.groups) {
    for (var i = thread; i <= DIGITS; i += WORKGROUP) { atomicStore(&counts[i], 0u); }
  }
}
