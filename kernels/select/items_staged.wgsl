// select/items_staged: select/items with the elements in workgroup memory, each invocation's in places of its own, and the ranks four to a
// word until they are used, so that few registers are held.

var<workgroup> staged_items: array<Held, WORKGROUP * ROWS>;

struct Items {
  thread: u32,
}

struct Ranks {
  sums: array<u32, SELECT_ROUNDS>,
}

fn hold_items(rows: array<Held, ROWS>, thread: u32) -> Items {
  // unroll
  for (var k = 0u; k < ROWS; k++) { staged_items[k * WORKGROUP + thread] = rows[k]; }
  return Items(thread);
}

// Ranks the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128.
fn rank_items(kept: u32, lane: u32, width: u32) -> Ranks {
  var ranks: Ranks;
  // unroll
  for (var r = 0u; r < SELECT_ROUNDS; r++) { ranks.sums[r] = subgroup_inclusive_sum(select_bytes(kept, r), lane); }
  return ranks;
}

// Writes each element behind the `start` that are kept before the subgroup's, and those of these before it, or behind those not kept.
fn write_items(items: Items, ranks: Ranks, kept: u32, start: u32, first: u32, width: u32) {
  var running = start;
  // unroll
  for (var r = 0u; r < SELECT_ROUNDS; r++) {
    let bytes = select_bytes(kept, r);
    let totals = subgroup_shuffle_word(ranks.sums[r], width - 1u);
    // unroll
    for (var j = 0u; j < SELECT_ROWS; j++) {
      let k = r * SELECT_ROWS + j;
      let before = running + (((ranks.sums[r] - bytes) >> (8u * j)) & 255u);
      write_item(staged_items[k * WORKGROUP + items.thread], ((kept >> k) & 1u) == 1u, first + k * width, before);
      running += (totals >> (8u * j)) & 255u;
    }
  }
}
