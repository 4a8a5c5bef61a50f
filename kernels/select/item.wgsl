// select/item: what both ways to hold a tile's elements do with one: its place, and which of four rows are kept.

// Four rows of `kept`, a byte each.
fn select_bytes(kept: u32, round: u32) -> u32 {
  return (((kept >> (round * SELECT_ROWS)) & 15u) * 0x204081u) & 0x1010101u;
}

// `before` of the elements before this one are kept.
fn write_item(held: Held, kept: bool, index: u32, before: u32) {
  if (kept) {
    store_kept(before, held);
  } else if (SELECT_REST != 0u && index < params.n) {
    store_rest(index - before, held);
  }
}
