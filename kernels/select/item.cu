// select/item: what both ways to hold a tile's elements do with one: its place, and which of four rows are kept.

// Four rows of `kept`, a byte each.
FUNCTION u32 select_bytes(u32 kept, u32 round) {
  return ((kept >> round * SELECT_ROWS & 15u) * 0x204081u) & 0x1010101u;
}

// `before` of the elements before this one are kept.
FUNCTION void write_item(const Keeping &keeping, const Held &held, bool kept, u32 index, u32 last, u32 before) {
  if (kept) {
    store_kept(keeping, before, held);
  } else if (SELECT_REST != 0u && index <= last) {
    store_rest(keeping, index - before, held);
  }
}
