// literature/scan/blelloch: one step of the work-efficient scan by Blelloch (1990; GPU Gems 3, 39.2.2) in global memory. A tree lies over the
// elements: a node of `2 * distance` of them keeps its sum in the last one's place. Nodes at the end may cover fewer.

@compute @workgroup_size(WORKGROUP)
fn scan_blelloch(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let node = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (node >= params.nodes) { return; }
  // Where the left child's sum is, and the right one's, which is the node's own.
  let left_at = 2u * params.distance * node + params.distance - 1u;
  let right_at = left_at + min(params.distance, params.n - 1u - left_at);
  let left = params.tree_offset + left_at;
  let right = params.tree_offset + right_at;
  if (STEP == STEP_LEAVES) {
    // 1. The first step up takes the elements from the input. The last one may have no neighbour.
    let first = input[params.input_offset + left_at];
    tree[left] = first;
    if (right_at > left_at) { tree[right] = combine(first, input[params.input_offset + right_at]); }
  } else if (STEP == STEP_UP) {
    // 2. Up: the node's sum.
    tree[right] = combine(tree[left], tree[right]);
  } else if (STEP == STEP_CLEAR) {
    // 3. Clear: before the root lies the initial value.
    tree[params.tree_offset + params.n - 1u] = params.initial;
  } else {
    // 4. Down: the left child gets what lies before the node, the right one that with the left one's sum.
    let left_sum = tree[left];
    let before = tree[right];
    tree[left] = before;
    tree[right] = combine(before, left_sum);
  }
}
