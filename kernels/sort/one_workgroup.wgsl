// sort/one_workgroup: sorts a segment of at most a tile of keys by some of its digit places, the lowest first, in one workgroup. Between the
// places the keys move through workgroup memory alone: device memory is read once and written once.

const TILE: u32 = WORKGROUP * ITEMS;
// What moves: a key's words and, of a pair, the index of its value.
const MOVED: u32 = KEY_WORDS + min(VALUE_WORDS, 1u);

// The tile in order, one word of all keys after the other.
var<workgroup> exchange: array<u32, MOVED * TILE>;
var<workgroup> shared_differs: array<atomic<u32>, PLACES>;
var<workgroup> shared_word: u32;

// In place through the binding that the keys are stored through, as `source_value` is.
fn source_key(at: u32) -> StoredKey {
  if (IN_PLACE > 0u) { return load_target_keys(params.target_offset + at); }
  return load_source(params.source_offset + at);
}

@compute @workgroup_size(WORKGROUP)
fn sort_one_workgroup(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  // 1. Load the keys, and bring each into the order of unsigned numbers: each subgroup takes ITEMS rows of one key a lane.
  let segment = segment_of(id.x, thread);
  if (segment.count == 0u || segment.count > TILE) { return; }
  let seat = subgroup * ITEMS * width + lane;
  let some_key = key_ordered(source_key(segment.first));
  var keys: array<Key, ITEMS>;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    keys[k] = key_ordered(source_key(segment.first + min(seat + k * width, segment.count - 1u)));
  }
  tile_ranks_clear(thread, subgroups);
  if (thread < PLACES) { atomicStore(&shared_differs[thread], 0u); }
  workgroupBarrier();

  // 2. In which places do keys differ? The others leave the order as it is.
  var bits = some_key;
  // unroll
  for (var word = 0u; word < KEY_WORDS; word++) {
    var differing = 0u;
    // unroll
    for (var k = 0u; k < ITEMS; k++) { differing |= key_word(keys[k], word) ^ key_word(some_key, word); }
    bits = key_with_word(bits, word, differing);
  }
  for (var place = 0u; place < PLACES; place++) {
    if (ordered_digit(bits, place) != 0u) { atomicStore(&shared_differs[place], 1u); }
  }
  // In place, all have loaded before any stores.
  storageBarrier();
  workgroupBarrier();
  if (thread == 0u) {
    shared_word = 0u;
    for (var place = 0u; place < PLACES; place++) { shared_word |= atomicLoad(&shared_differs[place]) << place; }
  }
  let differing = workgroupUniformLoad(&shared_word);

  // 3. Places past the end get keys that stay behind all.
  var origins: array<u32, ITEMS>;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    origins[k] = seat + k * width;
    if (origins[k] >= segment.count) { keys[k] = ordered_last(); }
  }

  for (var place = 0u; place < params.end_place; place++) {
    if (((differing >> place) & 1u) == 0u) { continue; }
    // 4. Count the subgroups' keys of each digit, and find where they begin.
    tile_count(&keys, place, thread, lane, width, subgroup, subgroups);

    // 5. Rank each key among its subgroup's of its digit, and bring the keys in order.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let position = tile_position(keys[k], place, lane, subgroup);
      // unroll
      for (var word = 0u; word < KEY_WORDS; word++) { exchange[word * TILE + position] = key_word(keys[k], word); }
      if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * TILE + position] = origins[k]; }
    }
    workgroupBarrier();

    // 6. Take them, and clear the counts for the next place.
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let at = seat + k * width;
      // unroll
      for (var word = 0u; word < KEY_WORDS; word++) { keys[k] = key_with_word(keys[k], word, exchange[word * TILE + at]); }
      if (VALUE_WORDS > 0u) { origins[k] = exchange[(MOVED - 1u) * TILE + at]; }
    }
    tile_ranks_clear(thread, subgroups);
    workgroupBarrier();
  }

  // 7. Store them. Values go where their keys went.
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let at = seat + k * width;
    if (VALUES_ALONE == 0u && at < segment.count) { store_target_keys(params.target_offset + segment.first + at, key_restored(keys[k])); }
  }
  // with VALUE_WORDS
  place_values(segment, seat, width, &origins);
}
