// merge_sort/merge: one level of merging for the segments of several tiles. Such a segment may be at either side of a tile: the first
// slots are the left sides, and the others the right ones. A workgroup merges the keys that go to a slot's places, one slot after the other.

var<workgroup> shared_found: array<atomic<u32>, 2>;
// The same, where all invocations read it.
var<workgroup> shared_words: vec2<u32>;
var<workgroup> shared_slot: vec4<u32>;

fn ordered_at(from_temp: bool, place: u32) -> Key {
  if (from_temp) { return key_ordered(load_temp(place)); }
  return key_ordered(load_output(params.output_offset + place));
}

// How many keys of the left run are among the first so many of both, for each of two numbers. Half of the invocations search for each:
// every turn divides what is left by as many as they are. All call it together.
fn split_runs(from_temp: bool, runs: Runs, before: Span, thread: u32) -> Span {
  let left = runs.middle - runs.begin;
  let right = runs.end - runs.middle;
  var low = vec2(before.begin - min(before.begin, right), before.end - min(before.end, right));
  var high = vec2(min(before.begin, left), min(before.end, left));
  const half_way: u32 = WORKGROUP / 2u;
  let own = select(1u, 0u, thread < half_way);
  let seat = thread - own * half_way;
  while (any(low < high)) {
    if (seat == 0u) { atomicStore(&shared_found[own], 0u); }
    workgroupBarrier();
    let own_low = select(low.y, low.x, own == 0u);
    let own_high = select(high.y, high.x, own == 0u);
    let own_before = select(before.end, before.begin, own == 0u);
    // The last key of this invocation's chunk: if it is among the first, all before it are.
    let each = (own_high - own_low + half_way - 1u) / half_way;
    let at = own_low + seat * each + each - 1u;
    if (own_low < own_high && at < own_high) {
      let other = ordered_at(from_temp, runs.middle + own_before - 1u - at);
      if (!ordered_before(other, ordered_at(from_temp, runs.begin + at))) { atomicMax(&shared_found[own], seat + 1u); }
    }
    workgroupBarrier();
    if (thread == 0u) { shared_words = vec2(atomicLoad(&shared_found[0]), atomicLoad(&shared_found[1])); }
    let found = workgroupUniformLoad(&shared_words);
    let chunk = (high - low + half_way - 1u) / half_way;
    let next = select(low, low + found * chunk, low < high);
    high = select(high, min(high, next + chunk - 1u), low < high);
    low = next;
  }
  return Span(low.x, low.y);
}

fn store_key(to_temp: bool, at: u32, key: StoredKey) {
  if (to_temp) { store_temp(at, key); } else { store_output(params.output_offset + at, key); }
}

// The first of a slot's places, how many they are, and where their segment begins and ends; no places if it is not merged on this level.
fn slot_of(slot: u32) -> vec4<u32> {
  let side = slot / params.tiles;
  let tile = slot % params.tiles;
  if (tile * params.tile_keys >= params.n) { return vec4(0u); }
  let places = places_of(tile);
  if (places.begin >= places.end) { return vec4(0u); }
  let segment = side_of(tile, side);
  let is_other = side == 1u && side_of(tile, 0u).begin == segment.begin;
  if (is_other || merged_levels(segment) < params.level) { return vec4(0u); }
  let start = max(places.begin, segment.begin);
  return vec4(start, min(places.end, segment.end) - start, segment.begin, segment.end);
}

@compute @workgroup_size(WORKGROUP)
fn merge_sort_merge(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  if (thread == 0u) { shared_words = vec2(sides[0], 0u); }
  if (params.level > workgroupUniformLoad(&shared_words).x) { return; }
  for (var slot = id.x + id.y * grid.x; slot < 2u * params.tiles; slot += params.groups) {
    // 1. Is the slot's segment merged on this level? One that is at both sides of the tile is the left one's.
    if (thread == 0u) { shared_slot = slot_of(slot); }
    let found = workgroupUniformLoad(&shared_slot);
    let start = found.x;
    let count = found.y;
    if (count == 0u) { continue; }
    let segment = Span(found.z, found.w);
    let to_temp = is_in_temp(segment, params.level);

    // 2. Find which keys of both runs go to these places.
    let runs = runs_of(segment, start, params.tile_keys, params.tile_more, params.level);
    let before = start - runs.begin;
    let split = split_runs(!to_temp, runs, Span(before, before + count), thread);
    let left = runs.begin + split.begin;
    let right = runs.middle + before - split.begin;
    // With offsets that fall, runs are in no order, and the two searches may disagree.
    let left_count = min(split.end - min(split.begin, split.end), count);

    // 3. Load them.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < count) { put(at, ordered_at(!to_temp, select(right + at - left_count, left + at, at < left_count)), at); }
    }
    workgroupBarrier();

    // 4. Merge those that go to this invocation's places.
    var keys: array<Key, ITEMS>;
    var origins: array<u32, ITEMS>;
    let here = Runs(0u, left_count, count);
    let own = thread * ITEMS;
    merge_places(min(own, count), here, NOWHERE, here, NOWHERE, &keys, &origins);
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) { put(own + k, keys[k], origins[k]); }
    workgroupBarrier();

    // 5. Store them in rows, and their values.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = k * WORKGROUP + thread;
      if (at < count) {
        store_key(to_temp, start + at, key_restored(key_at(at)));
        let origin = origin_at(at);
        let place = select(right + origin - left_count, left + origin, origin < left_count);
        // with VALUE_WORDS
        move_value(!to_temp, place, start + at);
      }
    }
    workgroupBarrier();
  }
}
