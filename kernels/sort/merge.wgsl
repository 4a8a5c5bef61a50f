// sort/merge: sorts a segment of at most a tile of keys in one workgroup by merging. Each invocation sorts a few keys in registers;
// then pairs of sorted runs become runs of twice as many, of which each invocation merges those keys that go to its own places.

const TILE: u32 = WORKGROUP * ITEMS;

// In place through the binding that the keys are stored through, as `source_value` is.
fn source_key(at: u32) -> StoredKey {
  if (IN_PLACE > 0u) { return load_target_keys(params.target_offset + at); }
  return load_source(params.source_offset + at);
}

@compute @workgroup_size(WORKGROUP)
fn sort_merge(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  // 1. Load the keys in rows, and bring each into the order of unsigned numbers. Places past the end get keys that stay behind all.
  let segment = segment_of(id.x, thread);
  if (segment.count == 0u || segment.count > TILE) { return; }
  let target_first = params.target_offset + segment.first;
  var keys: array<Key, ITEMS>;
  var origins: array<u32, ITEMS>;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    keys[k] = key_ordered(source_key(segment.first + min(k * WORKGROUP + thread, segment.count - 1u)));
  }
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let at = k * WORKGROUP + thread;
    if (at >= segment.count) { keys[k] = ordered_last(); }
    put(at, keys[k], at);
  }
  // In place, all have loaded before any stores.
  storageBarrier();
  workgroupBarrier();

  // 2. Take ITEMS keys that stand together, and sort them.
  let first = thread * ITEMS;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    keys[k] = key_at(first + k);
    origins[k] = origin_at(first + k);
  }
  sort_own(&keys, &origins, 0u);

  for (var run = 1u; run * ITEMS < segment.count; run *= 2u) {
    // 3. Lay the runs beside each other.
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) { put(first + k, keys[k], origins[k]); }
    workgroupBarrier();

    // 4. How many of the left run's keys are among those before this invocation's places?
    let begin = thread / (2u * run) * (2u * run) * ITEMS;
    let middle = begin + run * ITEMS;
    let end = middle + run * ITEMS;
    let before = first - begin;
    var low = before - min(before, run * ITEMS);
    var high = min(before, run * ITEMS);
    while (low < high) {
      let half_way = (low + high) / 2u;
      if (ordered_before(key_at(middle + before - 1u - half_way), key_at(begin + half_way))) {
        high = half_way;
      } else {
        low = half_way + 1u;
      }
    }

    // 5. Merge from there: of equal keys the left run's come first.
    var left = begin + low;
    var right = middle + before - low;
    var left_key = key_at(left);
    var right_key = key_at(right);
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let from_right = right < end && (left == middle || ordered_before(right_key, left_key));
      keys[k] = select(left_key, right_key, from_right);
      origins[k] = origin_at(select(left, right, from_right));
      left += select(1u, 0u, from_right);
      right += select(0u, 1u, from_right);
      let next = key_at(select(left, right, from_right));
      left_key = select(next, left_key, from_right);
      right_key = select(right_key, next, from_right);
    }
  }

  // 6. Store them in rows. Values go where their keys went.
  workgroupBarrier();
  // unroll
  for (var k = 0u; k < ITEMS; k++) { put(first + k, keys[k], origins[k]); }
  workgroupBarrier();
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let at = k * WORKGROUP + thread;
    origins[k] = origin_at(at);
    if (VALUES_ALONE == 0u && at < segment.count) { store_target_keys(target_first + at, key_restored(key_at(at))); }
  }
  // with VALUE_WORDS
  place_values(segment, thread, WORKGROUP, &origins);
}
