// merge_sort/rows: the segment that a place is in, where all segments are rows of one width.

fn all_offsets() -> Span {
  return Span(0u, 0u);
}

fn offsets_up_to(among: Span, place: u32) -> u32 {
  return 0u;
}

fn segment_of(among: Span, place: u32) -> Span {
  let begin = place - place % params.width;
  return Span(begin, begin + min(params.width, params.n - begin));
}
