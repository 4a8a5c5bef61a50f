// merge_sort/offsets: the segment that a place is in, by the offsets.

fn all_offsets() -> Span {
  return Span(0u, params.segments + 1u);
}

// How many offsets are up to a place; it is known to be among these numbers.
fn offsets_up_to(among: Span, place: u32) -> u32 {
  var low = among.begin;
  var high = among.end;
  while (low < high) {
    let half_way = low + (high - low) / 2u;
    if (segment_begin(half_way, params.n) <= place) {
      low = half_way + 1u;
    } else {
      high = half_way;
    }
  }
  return low;
}

// What is before the first offset or behind the last is a segment too. The place is in it, whatever the offsets are.
fn segment_of(among: Span, place: u32) -> Span {
  let next = offsets_up_to(among, place);
  var segment = Span(0u, params.n);
  if (next > 0u) { segment.begin = min(segment_begin(next - 1u, params.n), place); }
  if (next <= params.segments) { segment.end = max(segment_begin(next, params.n), place + 1u); }
  return segment;
}
