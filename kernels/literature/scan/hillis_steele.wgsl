// literature/scan/hillis_steele: one step of the scan by Hillis and Steele (1986; GPU Gems 3, 39.2.1) in global memory: each element is combined
// with the one `distance` before it. log2 n launches, from one buffer to another. Reads two elements and writes one for each.

// What is scanned. The first step takes it from the scan's input: an exclusive scan is an inclusive one of elements moved up by
// one, and the initial value comes first.
fn step_element(i: u32) -> T {
  if (FIRST == 1u && EXCLUSIVE == 1u) {
    if (i == 0u) { return params.initial; }
    return input[params.input_offset + i - 1u];
  }
  let v = input[params.input_offset + i];
  if (FIRST == 1u && i == 0u) { return combine(params.initial, v); }
  return v;
}

@compute @workgroup_size(WORKGROUP)
fn scan_hillis_steele(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  // Neighbouring invocations take neighbouring elements.
  let first = (id.x + id.y * grid.x) * WORKGROUP * ROWS + thread;
  // 1. What the elements are by now, each the sum of the `distance` elements up to it, and the sums of those before them. All are
  // loaded before any is stored: the compiler must take both buffers for one, and would have a load wait for each store before it.
  var sums: array<T, ROWS>;
  var before: array<T, ROWS>;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let i = first + k * WORKGROUP;
    if (i < params.n) {
      sums[k] = step_element(i);
      before[k] = step_element(i - min(i, params.distance));
    }
  }
  // 2. Together they are of twice as many.
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let i = first + k * WORKGROUP;
    if (i < params.n) {
      if (i >= params.distance) { sums[k] = combine(before[k], sums[k]); }
      output[params.output_offset + i] = sums[k];
    }
  }
}
