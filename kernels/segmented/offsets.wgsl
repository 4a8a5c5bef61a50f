// segmented/offsets: which elements of a tile begin segments, by the offsets. A tile searches for its own.

// What a search has found, and the offsets at both ends of a batch.
var<workgroup> search_chunks: atomic<u32>;
var<workgroup> search_found: u32;
var<workgroup> batch_ends: vec2<u32>;

// The number of the last invocation that brings true and 1, or 0 if none does. All invocations call it together.
fn last_of(is_less: bool, seat: u32) -> u32 {
  if (seat == 0u) { atomicStore(&search_chunks, 0u); }
  workgroupBarrier();
  if (is_less) { atomicMax(&search_chunks, seat + 1u); }
  workgroupBarrier();
  if (seat == 0u) { search_found = atomicLoad(&search_chunks); }
  return workgroupUniformLoad(&search_found);
}

// The first offset from the one at `begin` on that is no less than `at`; one past the last if none is. First the offsets around `likely`
// are asked. Then each turn divides what is left by as many as invocations are. All call it together.
fn search_offset(at: u32, begin: u32, likely: u32, n: u32, seat: u32) -> u32 {
  let window = min(max(likely, begin + WORKGROUP / 2u) - WORKGROUP / 2u, params.segments);
  let probe = window + seat;
  let probed = last_of(probe <= params.segments && segment_offset(probe, n) < at, seat);
  if (probed > 0u && probed < WORKGROUP) { return window + probed; }
  var low = select(begin, window + probed, probed > 0u);
  var high = select(window, params.segments + 1u, probed > 0u);
  while (low < high) {
    let each = (high - low - 1u) / WORKGROUP + 1u;
    let chunk = low + seat * each;
    let last = chunk + (each - 1u);
    // So many chunks have offsets that are all less.
    low += last_of(chunk < high && last < high && segment_offset(last, n) < at, seat) * each;
    high = min(low + (each - 1u), high);
  }
  return low;
}

// Where the next batch of WORKGROUP offsets begins, one past the last offset if none that is less than `past` follows. A batch of equal
// offsets, which are segments without elements, is followed by the next other one.
fn next_batch(start: u32, past: u32, n: u32, seat: u32) -> u32 {
  let end = start + WORKGROUP;
  if (end > params.segments) { return params.segments + 1u; }
  if (seat == 0u) { batch_ends = vec2(segment_offset(start, n), segment_offset(end - 1u, n)); }
  let ends = workgroupUniformLoad(&batch_ends);
  if (ends.y >= past) { return params.segments + 1u; }
  if (ends.x < ends.y) { return end; }
  return search_offset(ends.y + 1u, end, end, n, seat);
}

// Marks the elements of a tile that begin segments. Returns the tile's first offset. All invocations call it together.
fn mark_heads(tile: u32, n: u32, seat: u32) -> u32 {
  let first = tile * TILE;
  let count = tile_count(tile, n);
  // Where it is if all segments have one length.
  let likely = u32(f32(first) / f32(n) * f32(params.segments));
  let own = search_offset(first, 0u, likely, n, seat);
  for (var start = own; start <= params.segments; start = next_batch(start, first + count, n, seat)) {
    if (start + seat <= params.segments) {
      // An offset that falls is no place of the tile either.
      let place = segment_offset(start + seat, n) - first;
      if (place < count) { mark_head(place); }
    }
  }
  return own;
}
