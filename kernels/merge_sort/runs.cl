// merge_sort/runs: a segment's keys in order, by merging. A segment is cut into pieces at the multiples of a number of places, but
// not where at most `more` places follow. Each piece is sorted, a run. Then pairs of runs become one, level by level, counted from the
// segment's first piece, until the segment is one run.

// Places up to another.
typedef struct {
  u32 begin, end;
} Span;

// Two runs: from `begin` up to `middle`, and from there up to `end`.
typedef struct {
  u32 begin, middle, end;
} Runs;

// What is known of a tile: where it begins and ends, where the segment of its first key does, where that of its last does, and which offsets
// are up to these keys.
#define OF_TILE 8u

// No place.
#define NOWHERE 0xffffffffu

// One more than the number of a segment's last piece.
u32 last_piece(Span segment, u32 unit, u32 more) {
  return (segment.end - 1u - min(more, segment.end - 1u - segment.begin)) / unit + 1u;
}

// On how many levels the runs of a segment are merged.
u32 levels_of(Span segment, u32 unit, u32 more) {
  return 32u - clz(last_piece(segment, unit, more) - 1u - segment.begin / unit);
}

// The two runs that are merged on a level to the one that a place is in. The second has no keys if the segment has no such run.
Runs runs_of(Span segment, u32 place, u32 unit, u32 more, u32 level) {
  const u32 first = segment.begin / unit;
  const u32 pieces = last_piece(segment, unit, more);
  const u32 piece = place / unit;
  const u32 left = piece - (piece - first) % (1u << level);
  const u32 middle = left + (1u << (level - 1u));
  const u32 right = left + (1u << level);
  const Runs runs = {
    max(left * unit, segment.begin), middle < pieces ? middle * unit : segment.end, right < pieces ? right * unit : segment.end
  };
  return runs;
}
