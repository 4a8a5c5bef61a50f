// merge_sort/levels: on how many levels tiles' runs of a segment are merged. Those that are longer than `longest` are sorted elsewhere.

fn is_long(segment: Span) -> bool {
  return segment.end - segment.begin > params.longest;
}

fn merged_levels(segment: Span) -> u32 {
  return select(levels_of(segment, params.tile_keys, params.tile_more), 0u, is_long(segment));
}
