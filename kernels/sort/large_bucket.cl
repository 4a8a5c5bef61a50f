// sort/large_bucket: sorts the buckets that sort/one_workgroup left, of more than a tile of keys, by the same digit places. A workgroup sorts its
// bucket place by place, from one buffer to the other, and goes through it tile by tile: right for any bucket, and slow.

#define TILE (WORKGROUP * ITEMS)

KERNEL SUBGROUP_KERNEL void sort_large_bucket(ARGUMENTS) {
  __local u32 subgroup_counts[MAX_SUBGROUPS * DIGITS];
  __local u32 digit_totals[DIGITS];
  // Where the next key of each digit goes.
  __local u32 digit_next[DIGITS];
  __local u32 digit_counts[DIGITS];
  __local u32 digit_sums[MAX_SUBGROUPS];
  __local u32 shared_skip;
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);
  const Segment segment = segment_of(counts, params, get_group_id(0));
  if (segment.count <= params.sorted) { return; }
  const u32 seat = sg.id * ITEMS * sg.width + sg.lane;
  output += params.output_offset;
  output_values += params.output_values_offset;
  bool from_temp = true;
  for (u32 place = 0u; place < params.end_place; place++) {
    __global const StoredKey *source = from_temp ? temp : output;
    __global StoredKey *target = from_temp ? output : temp;
    __global const StoredValue *source_values = from_temp ? temp_values : output_values;
    __global StoredValue *target_values = from_temp ? output_values : temp_values;
    // 1. Count the bucket's digits.
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_totals[digit] = 0u; }
    if (thread == 0u) { shared_skip = 0u; }
    workgroup_barrier();
    for (u32 at = thread; at < segment.count; at += WORKGROUP) {
      atomic_add(&digit_totals[key_digit(source[segment.first + at], place)], 1u);
    }
    workgroup_barrier();

    // 2. Where each digit begins. A place where one digit has all keys leaves their order as it is.
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
      digit_counts[digit] = digit_totals[digit];
      if (digit_counts[digit] == segment.count) { shared_skip = 1u; }
    }
    digit_scan(sg, digit_counts, digit_sums);
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_next[digit] = segment.first + digit_counts[digit]; }
    if (workgroup_uniform_load(&shared_skip) == 1u) { continue; }

    for (u32 start = 0u; start < segment.count; start += TILE) {
      // 3. Count a tile's keys. Places past the end get keys that stay behind all.
      tile_ranks_clear(thread, sg, subgroup_counts);
      Key keys[ITEMS];
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        const u32 at = start + seat + k * sg.width;
        keys[k] = ordered_last();
        if (at < segment.count) { keys[k] = key_ordered(source[segment.first + at]); }
      }
      workgroup_barrier();
      tile_count(keys, place, thread, sg, subgroup_counts, digit_counts, digit_sums);

      // 4. Rank and scatter them.
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        const u32 at = start + seat + k * sg.width;
        const u32 position = tile_position(keys[k], place, sg, subgroup_counts);
        if (at < segment.count) {
          const u32 digit = ordered_digit(keys[k], place);
          const u32 goal = digit_next[digit] + position - digit_counts[digit];
          target[goal] = key_restored(keys[k]);
          // with VALUE_WORDS
          move_value(source_values, target_values, segment.first + at, goal);
        }
      }
      workgroup_barrier();

      // 5. The next tile's keys go behind these.
      for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
        const u32 end = digit == DIGITS - 1u ? TILE : digit_counts[digit + 1u];
        digit_next[digit] += end - digit_counts[digit];
      }
    }
    workgroup_storage_barrier();
    from_temp = !from_temp;
  }

  // 6. The last place may have left them in the wrong buffer.
  if (from_temp) {
    for (u32 at = thread; at < segment.count; at += WORKGROUP) {
      output[segment.first + at] = temp[segment.first + at];
      // with VALUE_WORDS
      move_value(temp_values, output_values, segment.first + at, segment.first + at);
    }
  }
}
