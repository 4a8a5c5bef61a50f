// sort/large_bucket: sorts the buckets that sort/one_workgroup left, of more than a tile of keys, by the same digit places. A workgroup sorts its
// bucket place by place, from one buffer to the other, and goes through it tile by tile: right for any bucket, and slow.

const TILE: u32 = WORKGROUP * ITEMS;

var<workgroup> digit_totals: array<atomic<u32>, DIGITS>;
// Where the next key of each digit goes.
var<workgroup> digit_next: array<u32, DIGITS>;
var<workgroup> shared_skip: u32;

fn load_key(from_temp: bool, index: u32) -> StoredKey {
  if (from_temp) { return load_temp(index); }
  return load_output(params.output_offset + index);
}

@compute @workgroup_size(WORKGROUP)
fn sort_large_bucket(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let segment = segment_of(id.x, thread);
  if (segment.count <= params.sorted) { return; }
  let seat = subgroup * ITEMS * width + lane;
  var from_temp = true;
  for (var place = 0u; place < params.end_place; place++) {
    // 1. Count the bucket's digits.
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) { atomicStore(&digit_totals[digit], 0u); }
    if (thread == 0u) { shared_skip = 0u; }
    workgroupBarrier();
    for (var at = thread; at < segment.count; at += WORKGROUP) {
      atomicAdd(&digit_totals[key_digit(load_key(from_temp, segment.first + at), place)], 1u);
    }
    workgroupBarrier();

    // 2. Where each digit begins. A place where one digit has all keys leaves their order as it is.
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
      digit_counts[digit] = atomicLoad(&digit_totals[digit]);
      if (digit_counts[digit] == segment.count) { shared_skip = 1u; }
    }
    digit_scan(lane, width, subgroup);
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_next[digit] = segment.first + digit_counts[digit]; }
    if (workgroupUniformLoad(&shared_skip) == 1u) { continue; }

    for (var start = 0u; start < segment.count; start += TILE) {
      // 3. Count a tile's keys. Places past the end get keys that stay behind all.
      tile_ranks_clear(thread, subgroups);
      var keys: array<Key, ITEMS>;
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = start + seat + k * width;
        keys[k] = ordered_last();
        if (at < segment.count) { keys[k] = key_ordered(load_key(from_temp, segment.first + at)); }
      }
      workgroupBarrier();
      tile_count(&keys, place, thread, lane, width, subgroup, subgroups);

      // 4. Rank and scatter them.
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = start + seat + k * width;
        let position = tile_position(keys[k], place, lane, subgroup);
        if (at < segment.count) {
          let digit = ordered_digit(keys[k], place);
          let goal = digit_next[digit] + position - digit_counts[digit];
          if (from_temp) { store_output(params.output_offset + goal, key_restored(keys[k])); } else { store_temp(goal, key_restored(keys[k])); }
          // with VALUE_WORDS
          move_value(from_temp, segment.first + at, goal);
        }
      }
      workgroupBarrier();

      // 5. The next tile's keys go behind these.
      for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
        var end = TILE;
        if (digit < DIGITS - 1u) { end = digit_counts[digit + 1u]; }
        digit_next[digit] += end - digit_counts[digit];
      }
    }
    storageBarrier();
    workgroupBarrier();
    from_temp = !from_temp;
  }

  // 6. The last place may have left them in the wrong buffer.
  if (from_temp) {
    for (var at = thread; at < segment.count; at += WORKGROUP) {
      store_output(params.output_offset + segment.first + at, load_temp(segment.first + at));
      // with VALUE_WORDS
      move_value(true, segment.first + at, segment.first + at);
    }
  }
}
