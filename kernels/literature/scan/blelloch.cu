// literature/scan/blelloch: one step of the work-efficient scan by Blelloch (1990; GPU Gems 3, 39.2.2) in global memory. A tree lies over the
// elements: a node of `2 * distance` of them keeps its sum in the last one's place. Nodes at the end may cover fewer.

extern "C" __global__ void __launch_bounds__(WORKGROUP) scan_blelloch(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 node = blockIdx.x * WORKGROUP + threadIdx.x;
  if (node >= params.nodes) { return; }
  input += params.input_offset;
  tree += params.tree_offset;
  // Where the left child's sum is, and the right one's, which is the node's own.
  const u32 left = 2u * params.distance * node + params.distance - 1u;
  const u32 right = left + min(params.distance, params.n - 1u - left);
  if (STEP == STEP_LEAVES) {
    // 1. The first step up takes the elements from the input. The last one may have no neighbour.
    const T first = input[left];
    tree[left] = first;
    if (right > left) { tree[right] = combine(first, input[right]); }
  } else if (STEP == STEP_UP) {
    // 2. Up: the node's sum.
    tree[right] = combine(tree[left], tree[right]);
  } else if (STEP == STEP_CLEAR) {
    // 3. Clear: before the root lies the initial value.
    tree[params.n - 1u] = params.initial;
  } else {
    // 4. Down: the left child gets what lies before the node, the right one that with the left one's sum.
    const T left_sum = tree[left];
    const T before = tree[right];
    tree[left] = before;
    tree[right] = combine(before, left_sum);
  }
}
