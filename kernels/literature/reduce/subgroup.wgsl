// literature/reduce/subgroup: as literature/reduce/grid_stride, and the tree is shuffles: within each subgroup, then within one over the
// subgroups' sums, with one barrier in between. Launched twice. The operator must commute.

var<workgroup> shared_sums: array<T, MAX_SUBGROUPS>;

@compute @workgroup_size(WORKGROUP)
fn reduce_subgroup(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
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
  // 2. Each subgroup combines its lanes' sums by shuffles.
  let folded = subgroup_fold(sum, lane, width);
  if (lane == 0u) { shared_sums[subgroup] = folded; }
  workgroupBarrier();
  // 3. The leading subgroup combines the subgroups' sums, and their lanes' by shuffles once more.
  if (subgroup == 0u) {
    var rest = identity();
    for (var s = 0u; s < subgroups; s += width) {
      if (s + lane < subgroups) { rest = combine(rest, shared_sums[s + lane]); }
    }
    let total = subgroup_fold(rest, lane, width);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (lane == 0u) { output[params.output_offset + group] = combine(params.initial, total); }
  }
}
