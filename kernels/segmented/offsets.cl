// segmented/offsets: which elements of a tile begin segments, by the offsets. A tile searches for its own.

// The first offset from the one at `start` on that is no less than `at`; one past the last if none is. All invocations call it together,
// each turn divides what is left by as many as they are.
u32 search_offset(InputValues input_values, u32 segments, u32 at, u32 start, u32 n, u32 seat, __local Stage *stage) {
  u32 low = start;
  u32 high = segments + 1u;
  while (low < high) {
    const u32 each = (high - low - 1u) / WORKGROUP + 1u;
    const u32 probe = low + seat * each + (each - 1u);
    if (seat == 0u) { stage->found = 0u; }
    workgroup_barrier();
    if (seat * each < high - low && probe < high && segment_offset(input_values, probe, n) < at) { atomic_max(&stage->found, seat + 1u); }
    // So many chunks have offsets that are all less.
    low = low + workgroup_uniform_load(&stage->found) * each;
    high = min(low + (each - 1u), high);
  }
  return low;
}

// Where the next batch of WORKGROUP offsets begins, one past the last offset if none that is less than `past` follows. A batch of equal
// offsets, which are segments without elements, is followed by the next other one.
u32 next_batch(InputValues input_values, u32 segments, u32 start, u32 past, u32 n, u32 seat, __local Stage *stage) {
  const u32 end = start + WORKGROUP;
  if (end > segments) { return segments + 1u; }
  if (seat == 0u) {
    stage->ends[0] = segment_offset(input_values, start, n);
    stage->ends[1] = segment_offset(input_values, end - 1u, n);
  }
  const u32 begins = workgroup_uniform_load(&stage->ends[0]);
  const u32 ends = workgroup_uniform_load(&stage->ends[1]);
  if (ends >= past) { return segments + 1u; }
  if (begins < ends) { return end; }
  return search_offset(input_values, segments, ends + 1u, end, n, seat, stage);
}

// Marks the elements of a tile that begin segments. Returns the tile's first offset. All invocations call it together.
u32 mark_heads(InputValues input_values, Params params, u32 tile, u32 seat, __local Stage *stage) {
  const u32 segments = params.segments;
  const u32 n = params.n;
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, n);
  const u32 own = search_offset(input_values, segments, first, 0u, n, seat, stage);
  for (u32 start = own; start <= segments; start = next_batch(input_values, segments, start, first + count, n, seat, stage)) {
    if (start + seat <= segments) {
      // An offset that falls is no place of the tile either.
      const u32 place = segment_offset(input_values, start + seat, n) - first;
      if (place < count) { mark_head(stage, place); }
    }
  }
  return own;
}
