// merge_sort/tile: sorts what a tile of keys has of each segment, in one workgroup. Each invocation sorts a few keys in registers; then
// the runs of segments that several invocations have are merged. A segment of one tile is in order then.

var<workgroup> shared_levels: atomic<u32>;
// The same, where all invocations read it.
var<workgroup> shared_word: u32;
var<workgroup> shared_places: vec2<u32>;

// The part of a segment that is in a tile.
fn in_tile(segment: Span, first: u32, count: u32) -> Span {
  return Span(max(segment.begin, first) - first, min(segment.end - first, count));
}

// In place through the binding that the keys are stored through: a compiler may take two bindings for memory that does not overlap.
fn source_key(at: u32) -> StoredKey {
  if (IN_PLACE > 0u) { return load_output(params.output_offset + at); }
  return load_source(params.source_offset + at);
}

@compute @workgroup_size(WORKGROUP)
fn merge_sort_tile(
  @builtin(workgroup_id) id: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) thread: u32
) {
  let tile = id.x + id.y * grid.x;
  if (tile * params.tile_keys >= params.n) { return; }
  var places = Span(tile * params.tile_keys, min((tile + 1u) * params.tile_keys, params.n));
  // with MERGES
  places = sorted_places(tile);
  if (thread == 0u) { shared_places = vec2(places.begin, places.end); }
  let ends = workgroupUniformLoad(&shared_places);
  let first = ends.x;
  let count = ends.y - first;
  if (count == 0u) { return; }

  // 1. Load the keys in rows, and bring each into the order of unsigned numbers.
  var keys: array<Key, ITEMS>;
  var origins: array<u32, ITEMS>;
  // unroll
  for (var k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(source_key(first + min(k * WORKGROUP + thread, count - 1u))); }
  // unroll
  for (var k = 0u; k < ITEMS; k++) { put(k * WORKGROUP + thread, keys[k], k * WORKGROUP + thread); }
  if (thread == 0u) { atomicStore(&shared_levels, 0u); }
  // In place, all have loaded before any stores.
  storageBarrier();
  workgroupBarrier();

  // 2. Which segment has the first key of this invocation's places, which begin at others, and which has the last?
  let own = thread * ITEMS;
  var among = all_offsets();
  // with MERGES
  among = tile_offsets(tile);
  let segment = segment_of(among, first + min(own, count - 1u));
  var one = in_tile(segment, first, count);
  // Places past the end stay apart.
  if (own >= count) { one = Span(own, own + ITEMS); }
  var two = one;
  var starts = 0u;
  for (var k = 1u; k < ITEMS; k++) {
    if (own + k == two.end) {
      starts |= 1u << k;
      two = Span(own + k, own + ITEMS);
      if (own + k < count) { two.end = in_tile(segment_of(among, first + own + k), first, count).end; }
    }
  }

  // 3. Take ITEMS keys that stand together, and sort them.
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    keys[k] = key_at(own + k);
    origins[k] = origin_at(own + k);
  }
  sort_own(&keys, &origins, starts);

  // 4. Merge the runs of the first segment and of the last, as often as any segment of the tile has to be.
  let most = max(levels_of(one, ITEMS, 0u), levels_of(two, ITEMS, 0u));
  if (most > 0u) { atomicMax(&shared_levels, most); }
  workgroupBarrier();
  if (thread == 0u) { shared_word = atomicLoad(&shared_levels); }
  let levels = workgroupUniformLoad(&shared_word);
  for (var level = 1u; level <= levels; level++) {
    workgroupBarrier();
    // unroll
    for (var k = 0u; k < ITEMS; k++) { put(own + k, keys[k], origins[k]); }
    workgroupBarrier();
    let last = runs_of(two, two.begin, ITEMS, 0u, level);
    merge_places(own, runs_of(one, own, ITEMS, 0u, level), one.end, last, two.begin, &keys, &origins);
  }

  // 5. Store them in rows, those of segments that are merged further where that begins. Values go where their keys went; if none are given,
  // they are the keys' places in their segments.
  var here = Span(0u, NOWHERE);
  // with MERGES
  here = stored_here(tile);
  workgroupBarrier();
  var begin = segment.begin;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    if (((starts >> k) & 1u) == 1u) { begin = first + own + k; }
    put(own + k, keys[k], select(first + origins[k] - begin, origins[k], SOURCE_VALUES > 0u));
  }
  workgroupBarrier();
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let at = k * WORKGROUP + thread;
    origins[k] = origin_at(at);
    if (KEYS_STORED > 0u && at < count) { store_key(here, first + at, key_restored(key_at(at))); }
  }
  // with VALUE_WORDS
  store_values(here, first, count, thread, &origins);
}
