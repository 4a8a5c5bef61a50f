// segmented/ranges: totals of segments. Each subgroup reduces a range of elements, row by row, and writes the totals of the segments that
// begin and end there. Others go on from range to range: the last workgroup to arrive combines what these have of them. Reads each element
// once, and no workgroup waits for another.

// The number of no segment: that of the first one is 1.
#define NO_SEGMENT 0u
// Up to so many boundaries in a row are taken one by one.
#define FEW 3u

// The words of an invocation's elements of a row.
typedef struct {
  u32 w[OWN_WORDS];
} Row;

// An invocation's elements of a row, each combined with its own before it.
typedef struct {
  T at[ROWS];
} Totals;

// The element that counts so many segments, or has this number.
T counting(T v, u32 count) {
  Words words = element_to_words(v);
  words.w[RUN_WORDS] = count;
  return element_from_words(words);
}

// How many segments begin in what has this total.
u32 begins_in(T total) {
  return element_to_words(total).w[RUN_WORDS];
}

// An invocation's elements of the row that begins at `first`, and identities from `last` on.
INLINED Row load_row(Input input, u32 first, u32 last, Subgroup sg) {
  const size_t own = (size_t)first + sg.lane * ROWS;
  Row row;
  if (first + sg.width * ROWS <= last) {
#pragma unroll
    for (u32 k = 0u; k < OWN_WORDS; k++) { row.w[k] = load_input_word(input, own + k / RUN_WORDS, k % RUN_WORDS); }
  } else {
    const Words none = element_to_words(identity());
#pragma unroll
    for (u32 k = 0u; k < OWN_WORDS; k++) {
      row.w[k] = none.w[k % RUN_WORDS];
      if (own + k / RUN_WORDS < last) { row.w[k] = load_input_word(input, own + k / RUN_WORDS, k % RUN_WORDS); }
    }
  }
  return row;
}

// An invocation's element `k`. The first of a segment has what that starts from.
INLINED T row_element(const Row *row, u32 heads, Params params, u32 k) {
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = row->w[k * RUN_WORDS + i]; }
  const u32 head = heads >> k & 1u;
  words.w[RUN_WORDS] = head;
  T element = element_from_words(words);
  if (STARTED != 0u && head == 1u) { element = counting(combine(params.initial, counting(element, 0u)), 1u); }
  return element;
}

INLINED T fold_row(const Row *row, u32 heads, Params params) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, row_element(row, heads, params, k)); }
  return sum;
}

INLINED Totals scan_row(const Row *row, u32 heads, Params params) {
  Totals totals;
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    sum = combine(sum, row_element(row, heads, params, k));
    totals.at[k] = sum;
  }
  return totals;
}

// The combination of those of the row from `begin` to `end` alone, in which no segment begins.
INLINED T fold_part(const Row *row, Params params, u32 begin, u32 end, u32 lane) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 place = lane * ROWS + k;
    if (place >= begin && place < end) { sum = combine(sum, row_element(row, 0u, params, k)); }
  }
  return sum;
}

// Where the boundary `s` is: behind the last element of a segment, and before the first one of the next. Past the last boundary it is past
// all elements.
u32 boundary_at(InputValues input_values, Params params, u32 s) {
  return s < boundaries(params) ? boundary(input_values, params, s) : 0xffffffffu;
}

// Where boundaries go on that a subgroup has seen so many of, from `s` on. Equal ones, of segments without elements, are passed at once.
u32 boundaries_behind(InputValues input_values, Params params, u32 s, u32 at, Subgroup sg) {
  // That of the first lane in all, since a search is all lanes'.
  const u32 same = subgroup_shuffle_word(sg, at, 0u);
  u32 other = 0u;
  if (same == subgroup_shuffle_word(sg, at, sg.width - 1u)) { other = first_past(input_values, params, same, sg); }
  // Offsets that fall may be searched in vain.
  return max(other, s + sg.width);
}

// The combination of what the lanes have, in all of them.
T in_all(T v, Subgroup sg) {
  return subgroup_shuffle_element(sg, subgroup_fold(sg, v, sg.width), 0u);
}

void store_total(Output output, u32 segment, T total) {
  const Words words = element_to_words(total);
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { store_output(output, (size_t)segment * RUN_WORDS + i, words.w[i]); }
}

KERNEL SUBGROUP_KERNEL void segmented_ranges(ARGUMENTS) {
  // What each subgroup's range leaves to its workgroup: what is open at its end, and the first total, of a segment that began before it.
  __local T range_open[MAX_SUBGROUPS];
  __local T range_first[MAX_SUBGROUPS];
  __local T subgroup_totals[MAX_SUBGROUPS];
  __local u32 shared_arrivals;
  const u32 group = get_group_id(0);
  DECLARE_SUBGROUP(sg);
  const u32 seat = sg.id * sg.width + sg.lane;
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  const T begun = counting(params.initial, 1u);

  // 1. Segments without elements give what they start from.
  const u32 stride = params.groups * WORKGROUP;
  for (u32 s = group * WORKGROUP + seat; s < may_be_empty(params); s += stride) {
    if (boundary(input_values, params, s + 1u) <= boundary(input_values, params, s)) { store_total(output, s, params.initial); }
    if (may_be_empty(params) - s <= stride) { break; }
  }

  // 2. This subgroup's range, which has its share of the elements and boundaries. All of a launch are of one width.
  const u32 each = sg.width * ROWS;
  const u32 ranges = params.groups * sg.count;
  const u32 range = group * sg.count + sg.id;
  const u32 share = max((all_work(params) + ranges - 1u) / ranges, (each + 15u) / 16u);
  const u32 first = range == 0u ? 0u : place_of(input_values, params, range * share, sg);
  const u32 last = range == ranges - 1u ? params.n : place_of(input_values, params, (range + 1u) * share, sg);
  // What the segment has that is open, and each lane's share of the rows since.
  T open = first == 0u ? begun : identity();
  T own = identity();
  // The first total, of a segment that began before the range. The lane that has it knows which.
  T kept = identity();
  // The next boundary is number `s`. Each lane holds one of those around, from `base` on.
  u32 s = 0u;
  u32 base = 0u;
  u32 ahead = 0u;
  u32 next = 0u;
  Row row;
  if (first < last) {
    row = load_row(input, first, last, sg);
    s = first_past(input_values, params, first, sg);
    base = max(s, 1u) - 1u;
    ahead = boundary_at(input_values, params, base + sg.lane);
    next = subgroup_shuffle_word(sg, ahead, s - base);
    if (subgroup_shuffle_word(sg, ahead, 0u) == first) { open = begun; }
  }
  for (u32 p = first; p < last; p += each) {
    const Row current = row;
    const u32 end = min(p + each, last);
    if (end < last) { row = load_row(input, end, last, sg); }
    // 3. Most rows of long segments have no boundary.
    if (next > end) {
      const T sum = fold_row(&current, 0u, params);
      if (COMMUTATIVE == 1u) {
        own = combine(own, sum);
      } else {
        open = combine(open, in_all(sum, sg));
      }
      continue;
    }
    // 4. A few boundaries divide the row.
    const u32 past = subgroup_first(sg, ahead > end);
    if (past < sg.width && base + past - s <= FEW) {
      u32 begin = 0u;
#pragma unroll 1
      for (; s < base + past; s++) {
        const u32 place = next - p;
        own = combine(own, fold_part(&current, params, begin, place, sg.lane));
        const T total = combine(open, in_all(own, sg));
        if (sg.lane == 0u && s > 0u && place > begin) {
          if (begins_in(total) > 0u) {
            store_total(output, s - 1u, total);
          } else {
            kept = counting(total, s);
          }
        }
        open = begun;
        own = identity();
        begin = place;
        next = subgroup_shuffle_word(sg, ahead, s + 1u - base);
      }
      own = fold_part(&current, params, begin, each, sg.lane);
      if (COMMUTATIVE == 0u) {
        open = combine(open, in_all(own, sg));
        own = identity();
      }
      continue;
    }
    // 5. More say which elements begin segments: a bit for each in its lane.
    u32 heads = 0u;
    u32 seen = base;
    u32 at = ahead;
    for (;;) {
      const u32 here = subgroup_first(sg, at > end);
      const u32 place = at - p;
      const bool marks = sg.lane < here && seen + sg.lane >= s && place < each;
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        heads |= (subgroup_or(sg, marks && place % ROWS == k, place / ROWS) ? 1u : 0u) << k;
      }
      if (here < sg.width) { break; }
      seen = boundaries_behind(input_values, params, seen, at, sg);
      at = boundary_at(input_values, params, seen + sg.lane);
    }
    // 6. Scan the row from what is open.
    open = combine(open, in_all(own, sg));
    own = identity();
    const Totals totals = scan_row(&current, heads, params);
    const T inclusive = subgroup_inclusive_scan(sg, totals.at[ROWS - 1u]);
    T lead = subgroup_shuffle_element_up(sg, inclusive, 1u);
    lead = sg.lane == 0u ? open : combine(open, lead);
    open = combine(open, subgroup_shuffle_element(sg, inclusive, sg.width - 1u));
    // 7. Each segment that ends in the row has its total at its last element.
    for (;;) {
      const u32 here = subgroup_first(sg, ahead > end);
      const u32 place = ahead - p - 1u;
      const u32 other = min(place / ROWS, sg.width - 1u);
      const u32 heads_there = subgroup_shuffle_word(sg, heads, other);
      Words words = {{0}};
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
#pragma unroll
        for (u32 i = 0u; i < RUN_WORDS; i++) {
          const u32 there = subgroup_shuffle_word(sg, element_to_words(totals.at[k]).w[i], other);
          if (place % ROWS == k) { words.w[i] = there; }
        }
      }
      words.w[RUN_WORDS] = (heads_there & ((2u << place % ROWS) - 1u)) != 0u ? 1u : 0u;
      const T total = combine(subgroup_shuffle_element(sg, lead, other), element_from_words(words));
      const u32 segment = base + sg.lane;
      u32 before = subgroup_shuffle_word(sg, ahead, max(sg.lane, 1u) - 1u);
      if (sg.lane == 0u && base > 0u) { before = boundary(input_values, params, base - 1u); }
      if (sg.lane < here && segment >= s && segment > 0u && before < ahead) {
        if (begins_in(total) > 0u) {
          store_total(output, segment - 1u, total);
        } else {
          kept = counting(total, segment);
        }
      }
      if (subgroup_first(sg, sg.lane < here && ahead == end) < sg.width) { open = begun; }
      if (here < sg.width) {
        s = base + here;
        next = subgroup_shuffle_word(sg, ahead, here);
        break;
      }
      base = boundaries_behind(input_values, params, base, ahead, sg);
      ahead = boundary_at(input_values, params, base + sg.lane);
    }
  }

  // 8. The workgroup's subgroups, in order.
  open = combine(open, in_all(own, sg));
  const u32 keeper = subgroup_first(sg, begins_in(kept) != NO_SEGMENT);
  kept = subgroup_shuffle_element(sg, kept, min(keeper, sg.width - 1u));
  if (sg.lane == 0u) {
    range_open[sg.id] = open;
    range_first[sg.id] = kept;
  }
  workgroup_barrier();
  if (seat == 0u) {
    T all = identity();
    T leading = identity();
    for (u32 i = 0u; i < sg.count; i++) {
      const u32 segment = begins_in(range_first[i]);
      if (segment != NO_SEGMENT) {
        const T total = combine(all, counting(range_first[i], 0u));
        if (begins_in(all) > 0u) {
          store_total(output, segment - 1u, total);
        } else {
          leading = counting(total, segment);
        }
      }
      all = combine(all, range_open[i]);
    }
    partial_publish(partials, 2u * group, all);
    partial_publish(partials, 2u * group + 1u, leading);
    shared_arrivals = atomic_add(&counter[0], 1u) + 1u;
  }
  if (workgroup_uniform_load(&shared_arrivals) < params.groups) { return; }

  // 9. The last workgroup goes through all of them, and leaves the scratch clean.
  T before = identity();
  for (u32 turn = 0u; turn < params.groups; turn += WORKGROUP) {
    const u32 whole = 2u * (turn + seat);
    const T all = partial_take(partials, whole, 2u * params.groups);
    const T leading = partial_take(partials, whole + 1u, 2u * params.groups);
    const T inclusive = subgroup_inclusive_scan(sg, all);
    const TileTotals totals = tile_totals(subgroup_shuffle_element(sg, inclusive, sg.width - 1u), sg, subgroup_totals);
    T lanes = subgroup_shuffle_element_up(sg, inclusive, 1u);
    if (sg.lane == 0u) { lanes = identity(); }
    const u32 segment = begins_in(leading);
    if (segment != NO_SEGMENT) {
      const T ahead = combine(combine(before, totals.before), lanes);
      store_total(output, segment - 1u, combine(ahead, counting(leading, 0u)));
    }
    before = combine(before, totals.all);
    workgroup_barrier();
  }
  if (seat == 0u) { store_relaxed_u32(&counter[0], 0u); }
}
