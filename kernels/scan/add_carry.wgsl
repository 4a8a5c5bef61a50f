// scan/add_carry: the last launch of scan-then-propagate: what lies before a tile is combined with each of its elements. Reads and
// writes each element once. With tiles of one element it makes an inclusive scan of an exclusive one and its input.

@group(0) @binding(0) var<storage, read_write> input: array<T>;
@group(0) @binding(1) var<storage, read_write> output: array<T>;
@group(0) @binding(2) var<storage, read_write> sums: array<T>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(WORKGROUP)
fn scan_add_carry(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  // 1. Neighbouring invocations take neighbouring elements.
  let first = group * WORKGROUP * ROWS + thread;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let i = first + k * WORKGROUP;
    // 2. What lies before the element's tile comes first.
    if (i < params.n) {
      output[params.output_offset + i] = combine(sums[i / params.tile], input[params.input_offset + i]);
    }
  }
}
