// sort/long_before: how many keys of a digit a long segment has in the tiles before one, and in all. Of BLOCK rows that are all the
// segment's, and not this tile's, the sum is added.

struct Counted {
  before: u32,
  all: u32,
}

fn counted_of(tile: Tile, digit: u32) -> Counted {
  var counted = Counted(0u, 0u);
  var row = tile.row_first;
  while (row < tile.row_past) {
    // WINDOW of them are on their way at a time.
    var rows: array<u32, WINDOW>;
    var window: array<u32, WINDOW>;
    // unroll
    for (var i = 0u; i < WINDOW; i++) {
      let block = row / BLOCK;
      let is_block = row % BLOCK == 0u && row + BLOCK <= tile.row_past && block != tile.row / BLOCK;
      let place = select(min(row, tile.row_past - 1u), params.first_sum + block, is_block);
      rows[i] = row;
      window[i] = counts[place * DIGITS + digit];
      row += select(1u, BLOCK, is_block);
    }
    // unroll
    for (var i = 0u; i < WINDOW; i++) {
      counted.all += select(0u, window[i], rows[i] < tile.row_past);
      counted.before += select(0u, window[i], rows[i] < tile.row);
    }
  }
  return counted;
}
