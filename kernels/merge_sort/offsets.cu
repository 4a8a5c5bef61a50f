// merge_sort/offsets: the segment that a place is in, by the offsets.

FUNCTION Span all_offsets(const Params &params) {
  const Span all = {0u, params.segments + 1u};
  return all;
}

// How many offsets are up to a place; it is known to be among these numbers.
FUNCTION u32 offsets_up_to(const u32 *offsets, const Params &params, Span among, u32 place) {
  u32 low = among.begin;
  u32 high = among.end;
  while (low < high) {
    const u32 half_way = low + (high - low) / 2u;
    if (segment_begin(offsets, params, half_way, params.n) <= place) {
      low = half_way + 1u;
    } else {
      high = half_way;
    }
  }
  return low;
}

// What is before the first offset or behind the last is a segment too. The place is in it, whatever the offsets are.
FUNCTION Span segment_of(const u32 *offsets, const Params &params, Span among, u32 place) {
  const u32 next = offsets_up_to(offsets, params, among, place);
  Span segment = {0u, params.n};
  if (next > 0u) { segment.begin = min(segment_begin(offsets, params, next - 1u, params.n), place); }
  if (next <= params.segments) { segment.end = max(segment_begin(offsets, params, next, params.n), place + 1u); }
  return segment;
}
