// scan/tile_rows: a scan's tile, of which each subgroup takes ROWS rows of one pack a lane. `first` is a lane's pack in the first row.

const TILE_PACKS: u32 = WORKGROUP * ROWS;
const TILE: u32 = TILE_PACKS * PACK;

// Loads a lane's packs, identities past the end.
fn load_rows(tile: u32, first: u32, width: u32, rows: ptr<function, array<Pack, ROWS>>) {
  if ((tile + 1u) * TILE <= params.n) {
    // unroll
    for (var k = 0u; k < ROWS; k++) { (*rows)[k] = load_input(params.input_offset + first + k * width); }
  } else {
    // unroll
    for (var k = 0u; k < ROWS; k++) { (*rows)[k] = load_pack(first + k * width, params.n, identity()); }
  }
}

// Scans the rows' packs within the subgroup: what lies before each in it, and the combination of all.
fn scan_rows(
  rows: ptr<function, array<Pack, ROWS>>, before: ptr<function, array<T, ROWS>>, lane: u32, width: u32
) -> T {
  var carry = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let inclusive = subgroup_inclusive_scan(pack_fold((*rows)[k]), lane);
    let exclusive = subgroup_shuffle_element_up(inclusive, 1u);
    (*before)[k] = carry;
    if (lane > 0u) { (*before)[k] = combine(carry, exclusive); }
    carry = combine(carry, subgroup_shuffle_element(inclusive, width - 1u));
  }
  return carry;
}

// Scans each pack from its prefix, `start` before the subgroup's, and stores it.
fn store_rows(
  tile: u32, first: u32, width: u32, start: T, rows: ptr<function, array<Pack, ROWS>>, before: ptr<function, array<T, ROWS>>
) {
  if ((tile + 1u) * TILE <= params.n) {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      store_output(params.output_offset + first + k * width, pack_scan((*rows)[k], combine(start, (*before)[k])));
    }
  } else {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      store_pack(first + k * width, params.n, pack_scan((*rows)[k], combine(start, (*before)[k])));
    }
  }
}
