// segmented/empty: what a reduction of segments gives for those without elements, which no tile finds: what each starts from. Reads each
// offset once.

extern "C" __global__ void __launch_bounds__(WORKGROUP) segmented_empty(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  input_values += params.input_values_offset;
  output += params.output_offset;
  const u32 segment = blockIdx.x * WORKGROUP + threadIdx.x;
  if (segment >= params.segments) { return; }
  // 1. Offsets that fall hold no elements either.
  if (segment_offset(input_values, segment + 1u, params.n) > segment_offset(input_values, segment, params.n)) { return; }
  // 2. Write what it starts from.
  const Words words = element_to_words(params.initial);
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { store_output(output, (size_t)segment * RUN_WORDS + i, words.w[i]); }
}
