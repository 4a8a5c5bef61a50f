// literature/reduce/grid_stride: as many workgroups as the device holds go over all elements, and take a tree once in the end. Launched
// twice. The operator must commute.

var<workgroup> shared_sums: array<T, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn reduce_grid_stride(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.groups) { return; }
  // 1. Each invocation folds all elements that fall to it: ROWS of every tile that its workgroup comes by.
  let tiles = (params.n - 1u) / (WORKGROUP * ROWS) + 1u;
  var sum = identity();
  for (var tile = group; tile < tiles; tile += params.groups) {
    let first = tile * WORKGROUP * ROWS + thread;
    var rows: array<T, ROWS>;
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = load_pack(first + k * WORKGROUP, params.n, identity()); }
    // unroll
    for (var k = 0u; k < ROWS; k++) { sum = combine(sum, rows[k]); }
  }
  shared_sums[thread] = sum;
  workgroupBarrier();
  // 2. The first half of the sums takes in the second half, again and again: neighbours work on neighbouring words.
  for (var stride = WORKGROUP / 2u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroupBarrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[params.output_offset + group] = combine(params.initial, shared_sums[0]); }
}
