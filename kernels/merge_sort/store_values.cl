// merge_sort/store_values: values of any size, each to the place of its key. `origins` are where the keys stood in the tile: their values,
// if none are given.

void store_values(
  SourceValues source_values, __global StoredValue *output_values, __global StoredValue *temp_values, Span here, u32 first, u32 count, u32 thread,
  const u32 *origins
) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value moved[ITEMS];
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      moved[k] = value_of_place(origins[k]);
      // with SOURCE_VALUES
      moved[k] = load_source_values_word(source_values, first + min(origins[k], count - 1u), word);
    }
    // In place, all have loaded before any stores.
    workgroup_storage_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      __global StoredValue *target = output_values;
      // with MERGES
      if ((first + at < here.begin) | (first + at >= here.end)) { target = temp_values; }
      if (at < count) { target[(size_t)(first + at) * VALUE_WORDS + word] = moved[k]; }
    }
  }
}
