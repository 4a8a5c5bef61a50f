// sort/merge: sorts a segment of at most a tile of keys in one workgroup by merging. Each invocation sorts a few keys in registers;
// then pairs of sorted runs become runs of twice as many, of which each invocation merges those keys that go to its own places.

#define TILE (WORKGROUP * ITEMS)

KERNEL void sort_merge(ARGUMENTS) {
  __local u32 exchange[MOVED * STRIDE];
  const u32 thread = get_local_id(0);

  // 1. Load the keys in rows, and bring each into the order of unsigned numbers. Places past the end get keys that stay behind all.
  const Segment segment = segment_of(counts, params, get_group_id(0));
  if (segment.count == 0u || segment.count > TILE) { return; }
  source += params.source_offset;
  source_values += params.source_values_offset;
  source = source_from(source, segment.first);
  target_keys = target_keys + params.target_offset + segment.first;
  Key keys[ITEMS];
  u32 origins[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_source(source, min(k * WORKGROUP + thread, segment.count - 1u))); }
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 at = k * WORKGROUP + thread;
    if (at >= segment.count) { keys[k] = ordered_last(); }
    put(exchange, at, keys[k], at);
  }
  // In place, all have loaded before any stores.
  workgroup_storage_barrier();

  // 2. Take ITEMS keys that stand together, and sort them.
  const u32 first = thread * ITEMS;
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    keys[k] = key_at(exchange, first + k);
    origins[k] = origin_at(exchange, first + k);
  }
  sort_own(keys, origins, 0u);

  for (u32 run = 1u; run * ITEMS < segment.count; run *= 2u) {
    // 3. Lay the runs beside each other.
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { put(exchange, first + k, keys[k], origins[k]); }
    workgroup_barrier();

    // 4. How many of the left run's keys are among those before this invocation's places?
    const u32 begin = thread / (2u * run) * (2u * run) * ITEMS;
    const u32 middle = begin + run * ITEMS;
    const u32 end = middle + run * ITEMS;
    const u32 before = first - begin;
    u32 low = before - min(before, run * ITEMS);
    u32 high = min(before, run * ITEMS);
    while (low < high) {
      const u32 half_way = (low + high) / 2u;
      if (ordered_before(key_at(exchange, middle + before - 1u - half_way), key_at(exchange, begin + half_way))) {
        high = half_way;
      } else {
        low = half_way + 1u;
      }
    }

    // 5. Merge from there: of equal keys the left run's come first.
    u32 left = begin + low;
    u32 right = middle + before - low;
    Key left_key = key_at(exchange, left);
    Key right_key = key_at(exchange, right);
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const bool from_right = right < end && (left == middle || ordered_before(right_key, left_key));
      keys[k] = from_right ? right_key : left_key;
      origins[k] = origin_at(exchange, from_right ? right : left);
      left += from_right ? 0u : 1u;
      right += from_right ? 1u : 0u;
      const Key next = key_at(exchange, from_right ? right : left);
      left_key = from_right ? left_key : next;
      right_key = from_right ? next : right_key;
    }
  }

  // 6. Store them in rows. Values go where their keys went.
  workgroup_barrier();
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { put(exchange, first + k, keys[k], origins[k]); }
  workgroup_barrier();
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 at = k * WORKGROUP + thread;
    origins[k] = origin_at(exchange, at);
    if (VALUES_ALONE == 0u && at < segment.count) { target_keys[at] = key_restored(key_at(exchange, at)); }
  }
  // with VALUE_WORDS
  place_values(source_values, target_values, params, segment, thread, WORKGROUP, origins);
}
