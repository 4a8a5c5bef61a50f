// top_k/share: what a workgroup takes of a segment, alone or beside others.

// Of the tiles of the keys from `first` up to `end` it takes the one at `turn`, and from there on each `turns` further.
typedef struct {
  u32 segment;
  // How many keys the segment has.
  u32 length;
  u32 first, end, turn, turns;
  // How many workgroups share the segment, and the number of its bound.
  u32 parts, bound;
} Share;

// Nothing is to be taken: there are no keys.
FUNCTION Share no_share() {
  const Share none = {0u, 0u, 0u, 0u, 0u, 1u, 1u, 0u};
  return none;
}
