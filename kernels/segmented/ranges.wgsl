// segmented/ranges: totals of segments. Each subgroup reduces a range of elements, row by row, and writes the totals of the segments that
// begin and end there. Others go on from range to range: the last workgroup to arrive combines what these have of them. Reads each element
// once, and no workgroup waits for another.

// The number of no segment: that of the first one is 1.
const NO_SEGMENT: u32 = 0u;
// Up to so many boundaries in a row are taken one by one.
const FEW: u32 = 3u;

// What each subgroup's range leaves to its workgroup: what is open at its end, and the first total, of a segment that began before it.
var<workgroup> range_open: array<T, MAX_SUBGROUPS>;
var<workgroup> range_first: array<T, MAX_SUBGROUPS>;
var<workgroup> shared_arrivals: u32;

// The words of an invocation's elements of a row.
struct Row {
  w: array<u32, OWN_WORDS>,
}

// An invocation's elements of a row, each combined with its own before it.
struct Totals {
  at: array<T, ROWS>,
}

// The element that counts so many segments, or has this number.
fn counting(v: T, count: u32) -> T {
  var words = element_to_words(v);
  words.w[RUN_WORDS] = count;
  return element_from_words(words);
}

// How many segments begin in what has this total.
fn begins_in(total: T) -> u32 {
  return element_to_words(total).w[RUN_WORDS];
}

// An invocation's elements of the row that begins at `first`, and identities from `last` on.
fn load_row(first: u32, last: u32, lane: u32, width: u32) -> Row {
  let own = first + lane * ROWS;
  var row: Row;
  if (first + width * ROWS <= last) {
    // unroll
    for (var k = 0u; k < OWN_WORDS; k++) { row.w[k] = load_input_word(own + k / RUN_WORDS, k % RUN_WORDS); }
  } else {
    var none = element_to_words(identity());
    // unroll
    for (var k = 0u; k < OWN_WORDS; k++) {
      row.w[k] = none.w[k % RUN_WORDS];
      if (own + k / RUN_WORDS < last) { row.w[k] = load_input_word(own + k / RUN_WORDS, k % RUN_WORDS); }
    }
  }
  return row;
}

// An invocation's element `k`. The first of a segment has what that starts from.
fn row_element(row: Row, heads: u32, k: u32) -> T {
  var words: Words;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { words.w[i] = row.w[k * RUN_WORDS + i]; }
  let head = (heads >> k) & 1u;
  words.w[RUN_WORDS] = head;
  var element = element_from_words(words);
  if (STARTED != 0u && head == 1u) { element = counting(combine(params.initial, counting(element, 0u)), 1u); }
  return element;
}

fn fold_row(row: Row, heads: u32) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { sum = combine(sum, row_element(row, heads, k)); }
  return sum;
}

fn scan_row(row: Row, heads: u32) -> Totals {
  var totals: Totals;
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    sum = combine(sum, row_element(row, heads, k));
    totals.at[k] = sum;
  }
  return totals;
}

// The combination of those of the row from `begin` to `end` alone, in which no segment begins.
fn fold_part(row: Row, begin: u32, end: u32, lane: u32) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let place = lane * ROWS + k;
    if (place >= begin && place < end) { sum = combine(sum, row_element(row, 0u, k)); }
  }
  return sum;
}

// Where the boundary `s` is: behind the last element of a segment, and before the first one of the next. Past the last boundary it is past
// all elements.
fn boundary_at(s: u32) -> u32 {
  if (s < boundaries()) { return boundary(s); }
  return 0xffffffffu;
}

// Where boundaries go on that a subgroup has seen so many of, from `s` on. Equal ones, of segments without elements, are passed at once.
fn boundaries_behind(s: u32, at: u32, lane: u32, width: u32) -> u32 {
  // That of the first lane in all, since a search is all lanes'.
  let same = subgroup_shuffle_word(at, 0u);
  var other = 0u;
  if (same == subgroup_shuffle_word(at, width - 1u)) { other = first_past(same, lane, width); }
  // Offsets that fall may be searched in vain.
  return max(other, s + width);
}

// The combination of what the lanes have, in all of them.
fn in_all(v: T, lane: u32, width: u32) -> T {
  return subgroup_shuffle_element(subgroup_fold(v, lane, width), 0u);
}

fn store_total(segment: u32, total: T) {
  var words = element_to_words(total);
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { store_output(params.output_offset + segment * RUN_WORDS + i, words.w[i]); }
}

@compute @workgroup_size(WORKGROUP)
fn segmented_ranges(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let group = id.x;
  let seat = subgroup * width + lane;
  let begun = counting(params.initial, 1u);

  // 1. Segments without elements give what they start from.
  let stride = params.groups * WORKGROUP;
  for (var s = group * WORKGROUP + seat; s < may_be_empty(); s += stride) {
    if (boundary(s + 1u) <= boundary(s)) { store_total(s, params.initial); }
    if (may_be_empty() - s <= stride) { break; }
  }

  // 2. This subgroup's range, which has its share of the elements and boundaries. All of a launch are of one width.
  let each = width * ROWS;
  let ranges = params.groups * subgroups;
  let range = group * subgroups + subgroup;
  let share = max((all_work() + ranges - 1u) / ranges, (each + 15u) / 16u);
  var first = 0u;
  if (range > 0u) { first = place_of(range * share, lane, width); }
  var last = params.n;
  if (range < ranges - 1u) { last = place_of((range + 1u) * share, lane, width); }
  // What the segment has that is open, and each lane's share of the rows since.
  var open = identity();
  if (first == 0u) { open = begun; }
  var own = identity();
  // The first total, of a segment that began before the range. The lane that has it knows which.
  var kept = identity();
  // The next boundary is number `s`. Each lane holds one of those around, from `base` on.
  var s = 0u;
  var base = 0u;
  var ahead = 0u;
  var next = 0u;
  var row: Row;
  if (first < last) {
    row = load_row(first, last, lane, width);
    s = first_past(first, lane, width);
    base = max(s, 1u) - 1u;
    ahead = boundary_at(base + lane);
    next = subgroup_shuffle_word(ahead, s - base);
    if (subgroup_shuffle_word(ahead, 0u) == first) { open = begun; }
  }
  for (var p = first; p < last; p += each) {
    let current = row;
    let end = min(p + each, last);
    if (end < last) { row = load_row(end, last, lane, width); }
    // 3. Most rows of long segments have no boundary.
    if (next > end) {
      let sum = fold_row(current, 0u);
      if (COMMUTATIVE == 1u) {
        own = combine(own, sum);
      } else {
        open = combine(open, in_all(sum, lane, width));
      }
      continue;
    }
    // 4. A few boundaries divide the row.
    let past = subgroup_first(ahead > end, width);
    if (past < width && base + past - s <= FEW) {
      var begin = 0u;
      for (; s < base + past; s++) {
        let place = next - p;
        own = combine(own, fold_part(current, begin, place, lane));
        let total = combine(open, in_all(own, lane, width));
        if (lane == 0u && s > 0u && place > begin) {
          if (begins_in(total) > 0u) {
            store_total(s - 1u, total);
          } else {
            kept = counting(total, s);
          }
        }
        open = begun;
        own = identity();
        begin = place;
        next = subgroup_shuffle_word(ahead, s + 1u - base);
      }
      own = fold_part(current, begin, each, lane);
      if (COMMUTATIVE == 0u) {
        open = combine(open, in_all(own, lane, width));
        own = identity();
      }
      continue;
    }
    // 5. More say which elements begin segments: a bit for each in its lane.
    var heads = 0u;
    var seen = base;
    var at = ahead;
    loop {
      let here = subgroup_first(at > end, width);
      let place = at - p;
      let marks = lane < here && seen + lane >= s && place < each;
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        heads |= select(0u, 1u, subgroup_or(marks && place % ROWS == k, place / ROWS, lane)) << k;
      }
      if (here < width) { break; }
      seen = boundaries_behind(seen, at, lane, width);
      at = boundary_at(seen + lane);
    }
    // 6. Scan the row from what is open.
    open = combine(open, in_all(own, lane, width));
    own = identity();
    var totals = scan_row(current, heads);
    let inclusive = subgroup_inclusive_scan(totals.at[ROWS - 1u], lane);
    var lead = subgroup_shuffle_element_up(inclusive, 1u);
    if (lane == 0u) { lead = open; } else { lead = combine(open, lead); }
    open = combine(open, subgroup_shuffle_element(inclusive, width - 1u));
    // 7. Each segment that ends in the row has its total at its last element.
    loop {
      let here = subgroup_first(ahead > end, width);
      let place = ahead - p - 1u;
      let other = min(place / ROWS, width - 1u);
      let heads_there = subgroup_shuffle_word(heads, other);
      var words: Words;
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        var own_words = element_to_words(totals.at[k]);
        // unroll
        for (var i = 0u; i < RUN_WORDS; i++) {
          let there = subgroup_shuffle_word(own_words.w[i], other);
          if (place % ROWS == k) { words.w[i] = there; }
        }
      }
      words.w[RUN_WORDS] = select(0u, 1u, (heads_there & ((2u << (place % ROWS)) - 1u)) != 0u);
      let total = combine(subgroup_shuffle_element(lead, other), element_from_words(words));
      let segment = base + lane;
      var before = subgroup_shuffle_word(ahead, max(lane, 1u) - 1u);
      if (lane == 0u && base > 0u) { before = boundary(base - 1u); }
      if (lane < here && segment >= s && segment > 0u && before < ahead) {
        if (begins_in(total) > 0u) {
          store_total(segment - 1u, total);
        } else {
          kept = counting(total, segment);
        }
      }
      if (subgroup_first(lane < here && ahead == end, width) < width) { open = begun; }
      if (here < width) {
        s = base + here;
        next = subgroup_shuffle_word(ahead, here);
        break;
      }
      base = boundaries_behind(base, ahead, lane, width);
      ahead = boundary_at(base + lane);
    }
  }

  // 8. The workgroup's subgroups, in order.
  open = combine(open, in_all(own, lane, width));
  let keeper = subgroup_first(begins_in(kept) != NO_SEGMENT, width);
  kept = subgroup_shuffle_element(kept, min(keeper, width - 1u));
  if (lane == 0u) {
    range_open[subgroup] = open;
    range_first[subgroup] = kept;
  }
  workgroupBarrier();
  if (seat == 0u) {
    var all = identity();
    var leading = identity();
    for (var i = 0u; i < subgroups; i++) {
      let segment = begins_in(range_first[i]);
      if (segment != NO_SEGMENT) {
        let total = combine(all, counting(range_first[i], 0u));
        if (begins_in(all) > 0u) {
          store_total(segment - 1u, total);
        } else {
          leading = counting(total, segment);
        }
      }
      all = combine(all, range_open[i]);
    }
    partial_publish(2u * group, all);
    partial_publish(2u * group + 1u, leading);
    shared_arrivals = atomicAdd(&counter[0], 1u) + 1u;
  }
  if (workgroupUniformLoad(&shared_arrivals) < params.groups) { return; }

  // 9. The last workgroup goes through all of them, and leaves the scratch clean.
  var before = identity();
  for (var turn = 0u; turn < params.groups; turn += WORKGROUP) {
    let whole = 2u * (turn + seat);
    let all = partial_take(whole, 2u * params.groups);
    let leading = partial_take(whole + 1u, 2u * params.groups);
    let inclusive = subgroup_inclusive_scan(all, lane);
    let totals = tile_totals(subgroup_shuffle_element(inclusive, width - 1u), lane, subgroup, subgroups);
    var lanes = subgroup_shuffle_element_up(inclusive, 1u);
    if (lane == 0u) { lanes = identity(); }
    let segment = begins_in(leading);
    if (segment != NO_SEGMENT) {
      let ahead = combine(combine(before, totals.before), lanes);
      store_total(segment - 1u, combine(ahead, counting(leading, 0u)));
    }
    before = combine(before, totals.all);
    workgroupBarrier();
  }
  if (seat == 0u) { atomicStore(&counter[0], 0u); }
}
