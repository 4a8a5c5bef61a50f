// merge_sort/levels: on how many levels tiles' runs of a segment are merged. Those that are longer than `longest` are sorted elsewhere.

bool is_long(Params params, Span segment) {
  return segment.end - segment.begin > params.longest;
}

u32 merged_levels(Params params, Span segment) {
  return is_long(params, segment) ? 0u : levels_of(segment, params.tile_keys, params.tile_more);
}
