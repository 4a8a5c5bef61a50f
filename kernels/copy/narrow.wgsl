// copy/narrow: elements that are not whole words, by parts of words. Each invocation makes a word of the output, or what of it is the
// output's.

const SHARE: u32 = 4u / VALUE_UNIT;
const PART_BITS: u32 = 32u / SHARE;
const PART_MASK: u32 = (1u << PART_BITS) - 1u;

@compute @workgroup_size(WORKGROUP)
fn copy_narrow(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let tile = id.x + id.y * grid.x;
  let begin = params.output_offset;
  let end = begin + params.n;
  // 1. Copy what is this invocation's turn.
  for (var k = 0u; k < ROWS; k++) {
    let word = begin / SHARE + (tile * ROWS + k) * WORKGROUP + thread;
    var value = 0u;
    var mask = 0u;
    for (var part = max(word * SHARE, begin); part < min((word + 1u) * SHARE, end); part++) {
      value |= load_input(params.input_offset + part - begin) << (PART_BITS * (part % SHARE));
      mask |= PART_MASK << (PART_BITS * (part % SHARE));
    }
    if (mask != 0u) { merge_output(word, mask, value); }
  }
}
