// merge_sort/merge: one level of merging for the segments of several tiles. Such a segment may be at either side of a tile: the first
// slots are the left sides, and the others the right ones. A workgroup merges the keys that go to a slot's places, one slot after the other.

var<workgroup> shared_found: array<atomic<u32>, 2>;

fn ordered_at(from_temp: bool, place: u32) -> Key {
  if (from_temp) { return key_ordered(load_temp_keys(place)); }
  return key_ordered(load_target_keys(params.target_offset + place));
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
    let found = vec2(atomicLoad(&shared_found[0]), atomicLoad(&shared_found[1]));
    let chunk = (high - low + half_way - 1u) / half_way;
    let next = select(low, low + found * chunk, low < high);
    high = select(high, min(high, next + chunk - 1u), low < high);
    low = next;
    workgroupBarrier();
  }
  return Span(low.x, low.y);
}

@compute @workgroup_size(WORKGROUP)
fn merge_sort_merge(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  if (params.level > sides[0]) { return; }
  for (var slot = id.x + id.y * grid.x; slot < 2u * params.tiles; slot += params.groups) {
    // 1. Is the slot's segment merged on this level? One that is at both sides of the tile is the left one's.
    let side = slot / params.tiles;
    let tile = slot % params.tiles;
    if (tile * params.tile_keys >= params.n) { continue; }
    let places = places_of(tile);
    if (places.begin >= places.end) { continue; }
    let segment = side_of(tile, side);
    let is_other = side == 1u && side_of(tile, 0u).begin == segment.begin;
    let levels = levels_of(segment, params.tile_keys, params.tile_more);
    if (is_other || levels < params.level) { continue; }
    let to_temp = is_in_temp(segment, params.level);

    // 2. Find which keys of both runs go to these places.
    let start = max(places.begin, segment.begin);
    let count = min(places.end, segment.end) - start;
    let runs = runs_of(segment, start, params.tile_keys, params.tile_more, params.level);
    let before = start - runs.begin;
    let split = split_runs(!to_temp, runs, Span(before, before + count), thread);
    let left = runs.begin + split.begin;
    let right = runs.middle + before - split.begin;
    let left_count = split.end - split.begin;

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
        move_value(to_temp, place, start + at);
      }
    }
    workgroupBarrier();
  }
}

fn store_key(to_temp: bool, at: u32, key: StoredKey) {
  if (to_temp) { store_temp_keys(at, key); } else { store_target_keys(params.target_offset + at, key); }
}
