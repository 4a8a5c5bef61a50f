// merge_sort/tile: sorts what a tile of keys has of each segment, in one workgroup. Each invocation sorts a few keys in registers; then
// the runs of segments that several invocations have are merged. A segment of one tile is in order then.

__shared__ u32 shared_levels;

// The part of a segment that is in a tile.
FUNCTION Span in_tile(Span segment, u32 first, u32 count) {
  const Span part = {max(segment.begin, first) - first, min(segment.end - first, count)};
  return part;
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) merge_sort_tile(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const u32 tile = blockIdx.x;
  if (tile * params.tile_keys >= params.n) { return; }
  Span places = {tile * params.tile_keys, min((tile + 1u) * params.tile_keys, params.n)};
  // with MERGES
  places = sorted_places(sides, params, tile);
  const u32 first = places.begin;
  const u32 count = places.end - first;
  if (count == 0u) { return; }
  source += params.source_offset;
  source_values += params.source_values_offset;
  source = source_from(source, first);
  output += params.output_offset;
  output_values += params.output_values_offset;

  // 1. Load the keys in rows, and bring each into the order of unsigned numbers.
  Key keys[ITEMS];
  u32 origins[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_source(source, min(k * WORKGROUP + thread, count - 1u))); }
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { put(k * WORKGROUP + thread, keys[k], k * WORKGROUP + thread); }
  if (thread == 0u) { shared_levels = 0u; }
  // In place, all have loaded before any stores.
  workgroup_barrier();

  // 2. Which segment has the first key of this invocation's places, which begin at others, and which has the last?
  const u32 own = thread * ITEMS;
  Span among = all_offsets(params);
  // with MERGES
  among = tile_offsets(sides, tile);
  const Span segment = segment_of(offsets, params, among, first + min(own, count - 1u));
  Span one = in_tile(segment, first, count);
  // Places past the end stay apart.
  if (own >= count) { one.begin = own; }
  if (own >= count) { one.end = own + ITEMS; }
  Span two = one;
  u32 starts = 0u;
  for (u32 k = 1u; k < ITEMS; k++) {
    if (own + k == two.end) {
      starts |= 1u << k;
      two.begin = own + k;
      two.end = own + ITEMS;
      if (own + k < count) { two.end = in_tile(segment_of(offsets, params, among, first + own + k), first, count).end; }
    }
  }

  // 3. Take ITEMS keys that stand together, and sort them.
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    keys[k] = key_at(own + k);
    origins[k] = origin_at(own + k);
  }
  sort_own(keys, origins, starts);

  // 4. Merge the runs of the first segment and of the last, as often as any segment of the tile has to be.
  const u32 most = max(levels_of(one, ITEMS, 0u), levels_of(two, ITEMS, 0u));
  if (most > 0u) { atomicMax(&shared_levels, most); }
  const u32 levels = workgroup_uniform_load(&shared_levels);
  for (u32 level = 1u; level <= levels; level++) {
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { put(own + k, keys[k], origins[k]); }
    workgroup_barrier();
    const Runs last = runs_of(two, two.begin, ITEMS, 0u, level);
    merge_places(own, runs_of(one, own, ITEMS, 0u, level), one.end, last, two.begin, keys, origins);
  }

  // 5. Store them in rows, those of segments that are merged further where that begins. Values go where their keys went; if none are given,
  // they are the keys' places in their segments.
  Span here = {0u, NOWHERE};
  // with MERGES
  here = stored_here(sides, params, tile);
  workgroup_barrier();
  u32 begin = segment.begin;
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    if (((starts >> k) & 1u) == 1u) { begin = first + own + k; }
    put(own + k, keys[k], SOURCE_VALUES > 0u ? origins[k] : first + origins[k] - begin);
  }
  workgroup_barrier();
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 at = k * WORKGROUP + thread;
    origins[k] = origin_at(at);
    if (KEYS_STORED > 0u && at < count) { store_key(output, temp, here, first + at, key_restored(key_at(at))); }
  }
  // with VALUE_WORDS
  store_values(source_values, output_values, temp_values, here, first, count, thread, origins);
}
