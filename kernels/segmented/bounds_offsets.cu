// segmented/bounds_offsets: the boundaries of segments, by the offsets.

FUNCTION u32 boundaries(const Params &params) {
  return params.segments + 1u;
}

// How many segments may have no elements.
FUNCTION u32 may_be_empty(const Params &params) {
  return params.segments;
}

FUNCTION u32 boundary(InputValues input_values, const Params &params, u32 s) {
  return segment_offset(input_values, s, params.n);
}

// All work: 16 elements are as much as two boundaries.
FUNCTION u32 all_work(const Params &params) {
  return params.n / 16u + boundaries(params) / 2u + 1u;
}

FUNCTION u32 work_up_to(u32 at, u32 s) {
  return at / 16u + s / 2u;
}

// The first boundary past the element `at`, or past so much work; one past the last if none is. The first turn asks those around the one
// that it is if all segments have one length. Each other one divides what is left by as many as lanes are. All lanes call it together.
FUNCTION u32 search(InputValues input_values, const Params &params, u32 at, bool is_work, Subgroup sg) {
  const u32 likely = (u32)((f32)at / (f32)(is_work ? all_work(params) : params.n) * (f32)params.segments);
  const u32 window = min(max(likely, sg.width / 2u) - sg.width / 2u, params.segments);
  u32 low = 0u;
  u32 high = boundaries(params);
  for (u32 turn = 0u; low < high; turn++) {
    const u32 first = turn == 0u ? window : low;
    const u32 each = turn == 0u ? 1u : (high - low - 1u) / sg.width + 1u;
    const u32 chunk = first + sg.lane * each;
    const u32 last = chunk + (each - 1u);
    // So many chunks have boundaries that are all up to there.
    bool is_past = chunk >= high || last >= high;
    if (!is_past) {
      const u32 there = boundary(input_values, params, last);
      is_past = (is_work ? work_up_to(there, last) : there) > at;
    }
    const u32 passed = subgroup_first(is_past, sg.width);
    if (turn == 0u && passed == 0u) {
      high = window;
    } else {
      low = first + passed * each;
      if (turn > 0u || passed < sg.width) { high = min(low + (each - 1u), high); }
    }
  }
  return low;
}

FUNCTION u32 first_past(InputValues input_values, const Params &params, u32 at, Subgroup sg) {
  return search(input_values, params, at, false, sg);
}

// The element, a multiple of 32, up to which so much is to do. All lanes call it together.
FUNCTION u32 place_of(InputValues input_values, const Params &params, u32 work, Subgroup sg) {
  if (work >= all_work(params)) { return params.n; }
  const u32 s = search(input_values, params, work, true, sg);
  const u32 low = s > 0u ? boundary(input_values, params, s - 1u) : 0u;
  const u32 high = s < boundaries(params) ? boundary(input_values, params, s) : params.n;
  const u32 done = s > 0u ? work_up_to(low, s - 1u) : 0u;
  return min(low + min((work - done) * 16u, high - low), params.n) / 32u * 32u;
}
