// literature/reduce/grid_stride: as many workgroups as the device holds go over all elements, and take a tree once in the end. Launched
// twice. The operator must commute.

__shared__ T shared_sums[WORKGROUP];

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_grid_stride(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
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
  shared_sums[thread] = sum;
  workgroup_barrier();
  // 2. The first half of the sums takes in the second half, again and again: neighbours work on neighbouring words.
  for (u32 stride = WORKGROUP / 2u; stride > 0u; stride >>= 1u) {
    if (thread < stride) { shared_sums[thread] = combine(shared_sums[thread], shared_sums[thread + stride]); }
    workgroup_barrier();
  }
  // 3. The first invocation writes the workgroup's sum, for the next launch or as the result.
  if (thread == 0u) { output[group] = combine(params.initial, shared_sums[0]); }
}
