// histogram/shared: counts in workgroup memory, which each workgroup then adds to the output. Reads each element once, and its
// weight if there are weights.

// What no element is counted in.
#define NO_BIN 0xffffffffu

KERNEL void histogram_shared(ARGUMENTS) {
  __local u32 counts[BINS * COPIES];
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  // 1. Clear this workgroup's counts. Where memory allows it, lanes count in copies of their own: a bank serves one at a time.
  for (u32 i = thread; i < BINS * COPIES; i += WORKGROUP) { counts[i] = 0u; }
  workgroup_barrier();
  // 2. Count the tiles that are this workgroup's turn. A bin past the last one is not counted.
  for (u32 tile = get_group_id(0); tile < params.tiles; tile += params.groups) {
    const u32 first = tile * WORKGROUP * ROWS + thread;
    Pack bins[ROWS];
    u32 amounts[ROWS * PACK];
    if ((tile + 1u) * WORKGROUP * ROWS * PACK <= params.n) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { bins[k] = load_input(input, first + k * WORKGROUP); }
    } else {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { bins[k] = load_pack(input, first + k * WORKGROUP, params.n, NO_BIN); }
    }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      // each lane
      amounts[k * PACK + LANE] = amount_of(input_values, min((first + k * WORKGROUP) * PACK + LANE, params.n - 1u));
    }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      // each lane
      if (bins[k].LANE < params.bins) { add_to_shared(&counts[bins[k].LANE * COPIES + thread % COPIES], amounts[k * PACK + LANE]); }
    }
  }
  workgroup_barrier();
  // 3. Add them to the whole.
  for (u32 i = thread; i < params.bins; i += WORKGROUP) {
    u32 count = 0u;
    for (u32 copy = 0u; copy < COPIES; copy++) { count = total_of(count, counts[i * COPIES + (copy + thread) % COPIES]); }
    if (count > 0u) { add_to_output(&output[i], count); }
  }
}
