// select/items_staged: select/items with the elements in workgroup memory, each invocation's in places of its own, and the ranks four to a
// word until they are used, so that few registers are held.

typedef struct {
  Held items[WORKGROUP * ROWS];
} ItemStage;

typedef struct {
  __local const ItemStage *stage;
  u32 thread;
} Items;

typedef struct {
  u32 sums[SELECT_ROUNDS];
} Ranks;

INLINED Items hold_items(const Held *rows, u32 thread, __local ItemStage *stage) {
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { stage->items[k * WORKGROUP + thread] = rows[k]; }
  const Items items = {stage, thread};
  return items;
}

// Ranks the kept elements within the subgroup, four rows at once: a byte holds a row's count, at most 128.
INLINED Ranks rank_items(u32 kept, Subgroup sg) {
  Ranks ranks;
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) { ranks.sums[r] = subgroup_inclusive_sum(sg, select_bytes(kept, r)); }
  return ranks;
}

// Writes each element behind the `start` that are kept before the subgroup's, and those of these before it, or behind those not kept.
INLINED void write_items(
  const Keeping *keeping, const Items *items, const Ranks *ranks, u32 kept, u32 start, u32 first, u32 last, Subgroup sg
) {
  u32 running = start;
#pragma unroll
  for (u32 r = 0u; r < SELECT_ROUNDS; r++) {
    const u32 bytes = select_bytes(kept, r);
    const u32 totals = subgroup_shuffle_word(sg, ranks->sums[r], sg.width - 1u);
#pragma unroll
    for (u32 j = 0u; j < SELECT_ROWS; j++) {
      const u32 k = r * SELECT_ROWS + j;
      const u32 before = running + ((ranks->sums[r] - bytes) >> 8u * j & 255u);
      const Held held = items->stage->items[k * WORKGROUP + items->thread];
      write_item(keeping, &held, (kept >> k & 1u) == 1u, first + k * sg.width, last, before);
      running += totals >> 8u * j & 255u;
    }
  }
}
