// select/items: what a tile of a selection holds while it looks back: each invocation its elements, and their ranks.

struct Items {
  rows: array<Held, ROWS>,
}

struct Ranks {
  places: array<u32, ROWS>,
}

fn hold_items(rows: array<Held, ROWS>, thread: u32) -> Items {
  return Items(rows);
}

// Ranks the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128.
fn rank_items(kept: u32, lane: u32, width: u32) -> Ranks {
  var ranks: Ranks;
  var carry = identity();
  // unroll
  for (var r = 0u; r < SELECT_ROUNDS; r++) {
    let bytes = select_bytes(kept, r);
    let inclusive = subgroup_inclusive_sum(bytes, lane);
    let totals = subgroup_shuffle_word(inclusive, width - 1u);
    // unroll
    for (var j = 0u; j < SELECT_ROWS; j++) {
      ranks.places[r * SELECT_ROWS + j] = carry + (((inclusive - bytes) >> (8u * j)) & 255u);
      carry += (totals >> (8u * j)) & 255u;
    }
  }
  return ranks;
}

// Writes each element behind the `start` that are kept before the subgroup's, and those of these before it, or behind those not kept.
fn write_items(items: Items, ranks: Ranks, kept: u32, start: u32, first: u32, width: u32) {
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    write_item(items.rows[k], ((kept >> k) & 1u) == 1u, first + k * width, start + ranks.places[k]);
  }
}
