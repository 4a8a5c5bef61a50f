// merge_sort/merge: one level of merging for the segments of several tiles. Such a segment may be at either side of a tile: the first
// slots are the left sides, and the others the right ones. A workgroup merges the keys that go to a slot's places, one slot after the other.

Key ordered_at(__global const StoredKey *source, u32 place) {
  return key_ordered(source[place]);
}

// How many keys of the left run are among the first so many of both, for each of two numbers. Half of the invocations search for each:
// every turn divides what is left by as many as they are. All call it together.
Span split_runs(__local u32 *shared_found, __global const StoredKey *source, Runs runs, Span before, u32 thread) {
  const u32 left = runs.middle - runs.begin;
  const u32 right = runs.end - runs.middle;
  u32 low[2] = {before.begin - min(before.begin, right), before.end - min(before.end, right)};
  u32 high[2] = {min(before.begin, left), min(before.end, left)};
  const u32 half_way = WORKGROUP / 2u;
  const u32 own = thread < half_way ? 0u : 1u;
  const u32 seat = thread - own * half_way;
  while ((low[0] < high[0]) | (low[1] < high[1])) {
    if (seat == 0u) { shared_found[own] = 0u; }
    workgroup_barrier();
    const u32 own_low = own == 0u ? low[0] : low[1];
    const u32 own_high = own == 0u ? high[0] : high[1];
    const u32 own_before = own == 0u ? before.begin : before.end;
    // The last key of this invocation's chunk: if it is among the first, all before it are.
    const u32 each = (own_high - own_low + half_way - 1u) / half_way;
    const u32 at = own_low + seat * each + each - 1u;
    if (own_low < own_high && at < own_high) {
      const Key other = ordered_at(source, runs.middle + own_before - 1u - at);
      if (!ordered_before(other, ordered_at(source, runs.begin + at))) { atomic_max(&shared_found[own], seat + 1u); }
    }
    workgroup_barrier();
#pragma unroll
    for (u32 i = 0u; i < 2u; i++) {
      const u32 chunk = (high[i] - low[i] + half_way - 1u) / half_way;
      if (low[i] < high[i]) {
        low[i] += shared_found[i] * chunk;
        high[i] = min(high[i], low[i] + chunk - 1u);
      }
    }
    workgroup_barrier();
  }
  const Span found = {low[0], low[1]};
  return found;
}

KERNEL void merge_sort_merge(ARGUMENTS) {
  __local u32 exchange[MOVED * STRIDE];
  __local u32 shared_found[2];
  const u32 thread = get_local_id(0);
  output += params.output_offset;
  output_values += params.output_values_offset;
  if (params.level > sides[0]) { return; }
  for (u32 slot = get_group_id(0); slot < 2u * params.tiles; slot += params.groups) {
    // 1. Is the slot's segment merged on this level? One that is at both sides of the tile is the left one's.
    const u32 side = slot / params.tiles;
    const u32 tile = slot % params.tiles;
    if (tile * params.tile_keys >= params.n) { continue; }
    const Span places = places_of(sides, tile);
    if (places.begin >= places.end) { continue; }
    const Span segment = side_of(sides, tile, side);
    const bool is_other = side == 1u && side_of(sides, tile, 0u).begin == segment.begin;
    const u32 levels = merged_levels(params, segment);
    if (is_other || levels < params.level) { continue; }
    const bool to_temp = is_in_temp(params, segment, params.level);
    __global const StoredKey *source = to_temp ? output : temp;
    __global StoredKey *target = to_temp ? temp : output;
    __global const StoredValue *source_values = to_temp ? output_values : temp_values;
    __global StoredValue *moved_to = to_temp ? temp_values : output_values;

    // 2. Find which keys of both runs go to these places.
    const u32 start = max(places.begin, segment.begin);
    const u32 count = min(places.end, segment.end) - start;
    const Runs runs = runs_of(segment, start, params.tile_keys, params.tile_more, params.level);
    const u32 before = start - runs.begin;
    const Span among = {before, before + count};
    const Span split = split_runs(shared_found, source, runs, among, thread);
    const u32 left = runs.begin + split.begin;
    const u32 right = runs.middle + before - split.begin;
    // With offsets that fall, runs are in no order, and the two searches may disagree.
    const u32 left_count = min(split.end - min(split.begin, split.end), count);

    // 3. Load them.
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < count) { put(exchange, at, ordered_at(source, at < left_count ? left + at : right + at - left_count), at); }
    }
    workgroup_barrier();

    // 4. Merge those that go to this invocation's places.
    Key keys[ITEMS];
    u32 origins[ITEMS];
    const Runs here = {0u, left_count, count};
    const u32 own = thread * ITEMS;
    merge_places(exchange, min(own, count), here, NOWHERE, here, NOWHERE, keys, origins);
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { put(exchange, own + k, keys[k], origins[k]); }
    workgroup_barrier();

    // 5. Store them in rows, and their values.
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < count) {
        target[start + at] = key_restored(key_at(exchange, at));
        const u32 origin = origin_at(exchange, at);
        const u32 place = origin < left_count ? left + origin : right + origin - left_count;
        // with VALUE_WORDS
        move_value(source_values, moved_to, place, start + at);
      }
    }
    workgroup_barrier();
  }
}
