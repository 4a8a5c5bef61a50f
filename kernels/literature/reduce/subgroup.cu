// literature/reduce/subgroup: as literature/reduce/grid_stride, and the tree is shuffles: within each subgroup, then within one over the
// subgroups' sums, with one barrier in between. Launched twice. The operator must commute.

__shared__ T shared_sums[MAX_SUBGROUPS];

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_subgroup(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  output += params.output_offset;
  // 1. Each invocation folds all elements that fall to it: ROWS of every tile that its workgroup comes by.
  const u32 tiles = (params.n - 1u) / (WORKGROUP * ROWS) + 1u;
  T sum = identity();
  for (u32 tile = group; tile < tiles; tile += params.groups) {
    const u32 first = tile * WORKGROUP * ROWS + thread;
    T rows[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(input, first + k * WORKGROUP, params.n, identity()); }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, rows[k]); }
  }
  // 2. Each subgroup combines its lanes' sums by shuffles.
  const T folded = subgroup_fold(sum, sg.lane, sg.width);
  if (sg.lane == 0u) { shared_sums[sg.id] = folded; }
  workgroup_barrier();
  // 3. The leading subgroup combines the subgroups' sums, and their lanes' by shuffles once more.
  if (sg.id == 0u) {
    T rest = identity();
    for (u32 s = 0u; s < sg.count; s += sg.width) {
      if (s + sg.lane < sg.count) { rest = combine(rest, shared_sums[s + sg.lane]); }
    }
    const T total = subgroup_fold(rest, sg.lane, sg.width);
    // 4. Its first lane writes the workgroup's sum, for the next launch or as the result.
    if (sg.lane == 0u) { output[group] = combine(params.initial, total); }
  }
}
