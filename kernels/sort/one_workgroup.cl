// sort/one_workgroup: sorts a segment of at most a tile of keys by some of its digit places, the lowest first, in one workgroup. Between the
// places the keys move through workgroup memory alone: device memory is read once and written once.

#define TILE (WORKGROUP * ITEMS)
// What moves: a key's words and, of a pair, the index of its value.
#define MOVED (KEY_WORDS + (VALUE_WORDS > 0u ? 1u : 0u))

KERNEL SUBGROUP_KERNEL void sort_one_workgroup(ARGUMENTS) {
  __local u32 subgroup_counts[MAX_SUBGROUPS * DIGITS];
  // The tile in order, one word of all keys after the other.
  __local u32 exchange[MOVED * TILE];
  __local u32 shared_differs[PLACES];
  __local u32 shared_word;
  __local u32 digit_counts[DIGITS];
  __local u32 digit_sums[MAX_SUBGROUPS];
  const u32 thread = get_local_id(0);
  DECLARE_SUBGROUP(sg);

  // 1. Load the keys, and bring each into the order of unsigned numbers: each subgroup takes ITEMS rows of one key a lane.
  const Segment segment = segment_of(counts, params, get_group_id(0));
  if (segment.count == 0u || segment.count > TILE) { return; }
  source += params.source_offset;
  source_values += params.source_values_offset;
  source = source_from(source, segment.first);
  target_keys = target_keys + params.target_offset + segment.first;
  const u32 seat = sg.id * ITEMS * sg.width + sg.lane;
  const Key some_key = key_ordered(load_source(source, 0));
  Key keys[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_source(source, min(seat + k * sg.width, segment.count - 1u))); }
  tile_ranks_clear(thread, sg, subgroup_counts);
  if (thread < PLACES) { shared_differs[thread] = 0u; }
  workgroup_barrier();

  // 2. In which places do keys differ? The others leave the order as it is.
  Key bits = some_key;
#pragma unroll
  for (u32 word = 0u; word < KEY_WORDS; word++) {
    u32 differing = 0u;
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { differing |= key_word(keys[k], word) ^ key_word(some_key, word); }
    bits = key_with_word(bits, word, differing);
  }
#pragma unroll
  for (u32 place = 0u; place < PLACES; place++) {
    if (ordered_digit(bits, place) != 0u) { shared_differs[place] = 1u; }
  }
  // In place, all have loaded before any stores.
  workgroup_storage_barrier();
  if (thread == 0u) {
    shared_word = 0u;
    for (u32 place = 0u; place < PLACES; place++) { shared_word |= shared_differs[place] << place; }
  }
  const u32 differing = workgroup_uniform_load(&shared_word);

  // 3. Places past the end get keys that stay behind all.
  u32 origins[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    origins[k] = seat + k * sg.width;
    if (origins[k] >= segment.count) { keys[k] = ordered_last(); }
  }

  for (u32 place = 0u; place < params.end_place; place++) {
    if (((differing >> place) & 1u) == 0u) { continue; }
    // 4. Count the subgroups' keys of each digit, and find where they begin.
    tile_count(keys, place, thread, sg, subgroup_counts, digit_counts, digit_sums);

    // 5. Rank each key among its subgroup's of its digit, and bring the keys in order.
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 position = tile_position(keys[k], place, sg, subgroup_counts);
#pragma unroll
      for (u32 word = 0u; word < KEY_WORDS; word++) { exchange[word * TILE + position] = key_word(keys[k], word); }
      if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * TILE + position] = origins[k]; }
    }
    workgroup_barrier();

    // 6. Take them, and clear the counts for the next place.
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = seat + k * sg.width;
#pragma unroll
      for (u32 word = 0u; word < KEY_WORDS; word++) { keys[k] = key_with_word(keys[k], word, exchange[word * TILE + at]); }
      if (VALUE_WORDS > 0u) { origins[k] = exchange[(MOVED - 1u) * TILE + at]; }
    }
    tile_ranks_clear(thread, sg, subgroup_counts);
    workgroup_barrier();
  }

  // 7. Store them. Values go where their keys went.
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 at = seat + k * sg.width;
    if (VALUES_ALONE == 0u && at < segment.count) { target_keys[at] = key_restored(keys[k]); }
  }
  // with VALUE_WORDS
  place_values(source_values, target_values, params, segment, seat, sg.width, origins);
}
