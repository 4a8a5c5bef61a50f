// sort/long_before: how many keys of a digit a long segment has in the tiles before one, and in all. Of BLOCK rows that are all the
// segment's, and not this tile's, the sum is added.

typedef struct {
  u32 before;
  u32 all;
} Counted;

FUNCTION Counted counted_of(const u32 *counts, const Params &params, Tile tile, u32 digit) {
  Counted counted = {0u, 0u};
  u32 row = tile.row_first;
  while (row < tile.row_past) {
    // WINDOW of them are on their way at a time.
    u32 rows[WINDOW];
    u32 window[WINDOW];
#pragma unroll
    for (u32 i = 0u; i < WINDOW; i++) {
      const u32 block = row / BLOCK;
      const bool is_block = row % BLOCK == 0u && row + BLOCK <= tile.row_past && block != tile.row / BLOCK;
      const u32 place = is_block ? params.first_sum + block : min(row, tile.row_past - 1u);
      rows[i] = row;
      window[i] = counts[place * DIGITS + digit];
      row += is_block ? BLOCK : 1u;
    }
#pragma unroll
    for (u32 i = 0u; i < WINDOW; i++) {
      counted.all += rows[i] < tile.row_past ? window[i] : 0u;
      counted.before += rows[i] < tile.row ? window[i] : 0u;
    }
  }
  return counted;
}
