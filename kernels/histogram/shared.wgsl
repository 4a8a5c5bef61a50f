// histogram/shared: counts in workgroup memory, which each workgroup then adds to the output. Reads each element once, and its
// weight if there are weights.

// What no element is counted in.
const NO_BIN: u32 = 0xffffffffu;

var<workgroup> counts: array<atomic<u32>, BINS * COPIES>;

@compute @workgroup_size(WORKGROUP)
fn histogram_shared(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Clear this workgroup's counts. Where memory allows it, lanes count in copies of their own: a bank serves one at a time.
  for (var i = thread; i < BINS * COPIES; i += WORKGROUP) { atomicStore(&counts[i], 0u); }
  workgroupBarrier();
  // 2. Count the tiles that are this workgroup's turn. A bin past the last one is not counted.
  for (var tile = id.x; tile < params.tiles; tile += params.groups) {
    let first = tile * WORKGROUP * ROWS + thread;
    var bins: array<Pack, ROWS>;
    var amounts: array<u32, ROWS * PACK>;
    if ((tile + 1u) * WORKGROUP * ROWS * PACK <= params.n) {
      // unroll
      for (var k = 0u; k < ROWS; k++) { bins[k] = load_input(params.input_offset + first + k * WORKGROUP); }
    } else {
      // unroll
      for (var k = 0u; k < ROWS; k++) { bins[k] = load_pack(first + k * WORKGROUP, params.n, NO_BIN); }
    }
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      // each lane
      amounts[k * PACK + LANE] = amount_of(min((first + k * WORKGROUP) * PACK + LANE, params.n - 1u));
    }
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      // each lane
      if (bins[k].LANE < params.bins) { add_to_shared(bins[k].LANE * COPIES + thread % COPIES, amounts[k * PACK + LANE]); }
    }
  }
  workgroupBarrier();
  // 3. Add them to the whole.
  for (var i = thread; i < params.bins; i += WORKGROUP) {
    var count = 0u;
    for (var copy = 0u; copy < COPIES; copy++) { count = total_of(count, atomicLoad(&counts[i * COPIES + (copy + thread) % COPIES])); }
    if (count > 0u) { add_to_output(params.output_offset + i, count); }
  }
}
