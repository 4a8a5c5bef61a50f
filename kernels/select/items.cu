// select/items: what a tile of a selection holds while it looks back: each invocation its elements, and their ranks.

struct Items {
  Held rows[ROWS];
};

struct Ranks {
  u32 places[ROWS];
};

FUNCTION Items hold_items(const Held *rows, u32 thread) {
  Items items;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { items.rows[k] = rows[k]; }
  return items;
}

// Ranks the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128.
FUNCTION Ranks rank_items(u32 kept, Subgroup sg) {
  Ranks ranks;
  T carry = identity();
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) {
    const u32 bytes = select_bytes(kept, r);
    const u32 inclusive = subgroup_inclusive_sum(bytes, sg.lane);
    const u32 totals = subgroup_shuffle_word(inclusive, sg.width - 1u);
#pragma unroll
    for (u32 j = 0u; j < SELECT_ROWS; j++) {
      ranks.places[r * SELECT_ROWS + j] = carry + ((inclusive - bytes) >> 8u * j & 255u);
      carry += totals >> 8u * j & 255u;
    }
  }
  return ranks;
}

// Writes each element behind the `start` that are kept before the subgroup's, and those of these before it, or behind those not kept.
FUNCTION void write_items(
  const Keeping &keeping, const Items &items, const Ranks &ranks, u32 kept, u32 start, u32 first, u32 last, Subgroup sg
) {
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    write_item(keeping, items.rows[k], (kept >> k & 1u) == 1u, first + k * sg.width, last, start + ranks.places[k]);
  }
}
