// merge_sort/runs: a segment's keys in order, by merging. A segment is cut into pieces at the multiples of a number of places, but
// not where at most `more` places follow. Each piece is sorted, a run. Then pairs of runs become one, level by level, counted from the
// segment's first piece, until the segment is one run.

// Places up to another.
struct Span {
  begin: u32,
  end: u32,
}

// Two runs: from `begin` up to `middle`, and from there up to `end`.
struct Runs {
  begin: u32,
  middle: u32,
  end: u32,
}

// What is known of a tile: where it begins and ends, where the segment of its first key does, where that of its last does, and which offsets
// are up to these keys.
const OF_TILE: u32 = 8u;

// No place.
const NOWHERE: u32 = 0xffffffffu;

// One more than the number of a segment's last piece.
fn last_piece(segment: Span, unit: u32, more: u32) -> u32 {
  return (segment.end - 1u - min(more, segment.end - 1u - segment.begin)) / unit + 1u;
}

// On how many levels the runs of a segment are merged.
fn levels_of(segment: Span, unit: u32, more: u32) -> u32 {
  return 32u - countLeadingZeros(last_piece(segment, unit, more) - 1u - segment.begin / unit);
}

// The two runs that are merged on a level to the one that a place is in. The second has no keys if the segment has no such run.
fn runs_of(segment: Span, place: u32, unit: u32, more: u32, level: u32) -> Runs {
  let first = segment.begin / unit;
  let pieces = last_piece(segment, unit, more);
  let piece = place / unit;
  let left = piece - (piece - first) % (1u << level);
  let middle = left + (1u << (level - 1u));
  let right = left + (1u << level);
  return Runs(
    max(left * unit, segment.begin), select(segment.end, middle * unit, middle < pieces), select(segment.end, right * unit, right < pieces)
  );
}
