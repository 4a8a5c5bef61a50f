// sort/merge: sorts a segment of at most a tile of keys in one workgroup by merging. Each invocation sorts a few keys in registers;
// then pairs of sorted runs become runs of twice as many, of which each invocation merges those keys that go to its own places.

const TILE: u32 = WORKGROUP * ITEMS;
// From one word of the tile's keys to the next: with a place that is read once a run has ended, and whose key nobody takes.
const STRIDE: u32 = TILE + 1u;
// What moves: a key's words and, of a pair, the index of its value.
const MOVED: u32 = KEY_WORDS + min(VALUE_WORDS, 1u);

// The tile, one word of all keys after the other, and of pairs the indices of their values.
var<workgroup> exchange: array<u32, MOVED * STRIDE>;

fn key_at(at: u32) -> Key {
  var key = ordered_last();
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * STRIDE + at]); }
  return key;
}

fn origin_at(at: u32) -> u32 {
  if (VALUE_WORDS > 0u) { return exchange[(MOVED - 1u) * STRIDE + at]; }
  return 0u;
}

fn put(at: u32, key: Key, origin: u32) {
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) { exchange[word * STRIDE + at] = key_word(key, word); }
  if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * STRIDE + at] = origin; }
}

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

  // 2. Take ITEMS keys that stand together, and sort them: neighbours change places by turns, but not where their keys are equal.
  let first = thread * ITEMS;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    keys[k] = key_at(first + k);
    origins[k] = origin_at(first + k);
  }
  // unroll
  for (var turn = 0u; turn < ITEMS; turn++) {
    // unroll
    for (var pair = 0u; pair < NEIGHBOURS; pair++) {
      let k = 2u * pair + turn % 2u;
      let left = keys[k];
      let right = keys[k + 1u];
      let left_origin = origins[k];
      let swap = ordered_before(right, left);
      keys[k] = select(left, right, swap);
      keys[k + 1u] = select(right, left, swap);
      origins[k] = select(left_origin, origins[k + 1u], swap);
      origins[k + 1u] = select(origins[k + 1u], left_origin, swap);
    }
  }

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
    if (PLACES_ALONE == 0u && at < segment.count) { store_target_keys(target_first + at, key_restored(key_at(at))); }
  }
  // with VALUE_WORDS
  place_values(segment, thread, WORKGROUP, &origins);
}
