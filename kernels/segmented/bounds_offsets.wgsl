// segmented/bounds_offsets: the boundaries of segments, by the offsets.

fn boundaries() -> u32 {
  return params.segments + 1u;
}

// How many segments may have no elements.
fn may_be_empty() -> u32 {
  return params.segments;
}

fn boundary(s: u32) -> u32 {
  return segment_offset(s, params.n);
}

// All work: 16 elements are as much as two boundaries.
fn all_work() -> u32 {
  return params.n / 16u + boundaries() / 2u + 1u;
}

fn work_up_to(at: u32, s: u32) -> u32 {
  return at / 16u + s / 2u;
}

// The first boundary past the element `at`, or past so much work; one past the last if none is. The first turn asks those around the one
// that it is if all segments have one length. Each other one divides what is left by as many as lanes are. All lanes call it together.
fn search(at: u32, is_work: bool, lane: u32, width: u32) -> u32 {
  let likely = u32(f32(at) / f32(select(params.n, all_work(), is_work)) * f32(params.segments));
  let window = min(max(likely, width / 2u) - width / 2u, params.segments);
  var low = 0u;
  var high = boundaries();
  for (var turn = 0u; low < high; turn++) {
    let first = select(low, window, turn == 0u);
    let each = select((high - low - 1u) / width + 1u, 1u, turn == 0u);
    let chunk = first + lane * each;
    let last = chunk + (each - 1u);
    // So many chunks have boundaries that are all up to there.
    var is_past = chunk >= high || last >= high;
    if (!is_past) {
      let there = boundary(last);
      is_past = select(there, work_up_to(there, last), is_work) > at;
    }
    let passed = subgroup_first(is_past, width);
    if (turn == 0u && passed == 0u) {
      high = window;
    } else {
      low = first + passed * each;
      if (turn > 0u || passed < width) { high = min(low + (each - 1u), high); }
    }
  }
  return low;
}

fn first_past(at: u32, lane: u32, width: u32) -> u32 {
  return search(at, false, lane, width);
}

// The element, a multiple of 32, up to which so much is to do. All lanes call it together.
fn place_of(work: u32, lane: u32, width: u32) -> u32 {
  if (work >= all_work()) { return params.n; }
  let s = search(work, true, lane, width);
  var low = 0u;
  var done = 0u;
  if (s > 0u) {
    low = boundary(s - 1u);
    done = work_up_to(low, s - 1u);
  }
  var high = params.n;
  if (s < boundaries()) { high = boundary(s); }
  return min(low + min((work - done) * 16u, high - low), params.n) / 32u * 32u;
}
