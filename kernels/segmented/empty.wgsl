// segmented/empty: what a reduction of segments gives for those without elements, which no tile finds: what each starts from. Reads each
// offset once.

@compute @workgroup_size(WORKGROUP)
fn segmented_empty(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let segment = (id.x + id.y * grid.x) * WORKGROUP + thread;
  if (segment >= params.segments) { return; }
  // 1. Offsets that fall hold no elements either.
  if (segment_offset(segment + 1u, params.n) > segment_offset(segment, params.n)) { return; }
  // 2. Write what it starts from.
  let words = element_to_words(params.initial);
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { store_output(params.output_offset + segment * RUN_WORDS + i, words.w[i]); }
}
