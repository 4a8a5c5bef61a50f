// sort/place_values: values of any size, each to the place of its key. An invocation's keys stand from `seat` on,
// `stride` apart, and `origins` are where they stood in the segment: their values, if
// none are given.

FUNCTION void place_values(
  SourceValues source_values, StoredValue *target, const Params &params, Segment segment, u32 seat, u32 stride, const u32 *origins
) {
  target += params.target_values_offset + (size_t)segment.first * VALUE_WORDS;
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value moved[ITEMS];
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 origin = min(origins[k], segment.count - 1u);
      moved[k] = value_of_place(origin);
      // with SOURCE_VALUES
      moved[k] = load_source_values_word(source_values, segment.first + origin, word);
    }
    // In place, all have loaded before any stores.
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = seat + k * stride;
      if (at < segment.count) { target[at * VALUE_WORDS + word] = moved[k]; }
    }
  }
}
