// segmented/offsets: which elements of a tile begin segments, by the offsets. A tile searches for its own.

// What a search has found.
__shared__ u32 search_found;

// The number of the last invocation that brings true and 1, or 0 if none does. All invocations call it together.
FUNCTION u32 last_of(bool is_less, u32 seat) {
  if (seat == 0u) { search_found = 0u; }
  workgroup_barrier();
  if (is_less) { atomicMax(&search_found, seat + 1u); }
  return workgroup_uniform_load(&search_found);
}

// The first offset from the one at `begin` on that is no less than `at`; one past the last if none is. First the offsets around `likely`
// are asked. Then each turn divides what is left by as many as invocations are. All call it together.
FUNCTION u32 search_offset(InputValues input_values, u32 segments, u32 at, u32 begin, u32 likely, u32 n, u32 seat) {
  const u32 window = min(max(likely, begin + WORKGROUP / 2u) - WORKGROUP / 2u, segments);
  const u32 probe = window + seat;
  const u32 probed = last_of(probe <= segments && segment_offset(input_values, probe, n) < at, seat);
  if (probed > 0u && probed < WORKGROUP) { return window + probed; }
  u32 low = probed > 0u ? window + probed : begin;
  u32 high = probed > 0u ? segments + 1u : window;
  while (low < high) {
    const u32 each = (high - low - 1u) / WORKGROUP + 1u;
    const u32 chunk = low + seat * each;
    const u32 last = chunk + (each - 1u);
    // So many chunks have offsets that are all less.
    low += last_of(chunk < high && last < high && segment_offset(input_values, last, n) < at, seat) * each;
    high = min(low + (each - 1u), high);
  }
  return low;
}

// Where the next batch of WORKGROUP offsets begins, one past the last offset if none that is less than `past` follows. A batch of equal
// offsets, which are segments without elements, is followed by the next other one.
FUNCTION u32 next_batch(InputValues input_values, u32 segments, u32 start, u32 past, u32 n, u32 seat) {
  const u32 end = start + WORKGROUP;
  if (end > segments) { return segments + 1u; }
  const u32 begins = segment_offset(input_values, start, n);
  const u32 ends = segment_offset(input_values, end - 1u, n);
  if (ends >= past) { return segments + 1u; }
  if (begins < ends) { return end; }
  return search_offset(input_values, segments, ends + 1u, end, end, n, seat);
}

// Marks the elements of a tile that begin segments. Returns the tile's first offset. All invocations call it together.
FUNCTION u32 mark_heads(InputValues input_values, const Params &params, u32 tile, u32 seat) {
  const u32 segments = params.segments;
  const u32 n = params.n;
  const u32 first = tile * TILE;
  const u32 count = tile_count(tile, n);
  // Where it is if all segments have one length.
  const u32 likely = (u32)((f32)first / (f32)n * (f32)segments);
  const u32 own = search_offset(input_values, segments, first, 0u, likely, n, seat);
  for (u32 start = own; start <= segments; start = next_batch(input_values, segments, start, first + count, n, seat)) {
    if (start + seat <= segments) {
      // An offset that falls is no place of the tile either.
      const u32 place = segment_offset(input_values, start + seat, n) - first;
      if (place < count) { mark_head(place); }
    }
  }
  return own;
}
