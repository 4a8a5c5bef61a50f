// literature/scan/add_carry: the last launch of scan-then-propagate: what lies before a tile is combined with each of its elements. Reads and
// writes each element once. With tiles of one element it makes an inclusive scan of an exclusive one and its input.

@compute @workgroup_size(WORKGROUP)
fn scan_add_carry(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  // 1. What lies before an element's tile comes first. Neighbouring invocations take neighbouring elements, and load all before they
  // store any: the buffers may be one, and a load would wait for each store before it.
  let first = group * WORKGROUP * ROWS + thread;
  var ends: array<T, ROWS>;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let i = first + k * WORKGROUP;
    if (i < params.n) { ends[k] = combine(sums[i / TILE], input[params.input_offset + i]); }
  }
  // 2. Write them.
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let i = first + k * WORKGROUP;
    if (i < params.n) { output[params.output_offset + i] = ends[k]; }
  }
}
