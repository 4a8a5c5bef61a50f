// scan/tile_rows: a scan's tile, of which each subgroup takes ROWS rows of one pack a lane. `first` is a lane's pack in the first row.

#define TILE_PACKS (WORKGROUP * ROWS)
#define TILE (TILE_PACKS * PACK)

// Loads a lane's packs, identities past the end.
FUNCTION void load_rows(Input input, u32 tile, u32 first, u32 n, Subgroup sg, Pack *rows) {
  if ((tile + 1u) * TILE <= n) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(input, first + k * sg.width); }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(input, first + k * sg.width, n, identity()); }
  }
}

// Scans the rows' packs within the subgroup: what lies before each in it, and the combination of all.
FUNCTION T scan_rows(const Pack *rows, T *before, Subgroup sg) {
  T carry = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const T inclusive = subgroup_inclusive_scan(pack_fold(rows[k]), sg.lane);
    const T exclusive = subgroup_shuffle_element_up(inclusive, 1u);
    before[k] = sg.lane > 0u ? combine(carry, exclusive) : carry;
    carry = combine(carry, subgroup_shuffle_element(inclusive, sg.width - 1u));
  }
  return carry;
}

// Scans each pack from its prefix, `start` before the subgroup's, and stores it.
FUNCTION void store_rows(
  Output output, u32 tile, u32 first, u32 n, T start, const Pack *rows, const T *before, Subgroup sg
) {
  if ((tile + 1u) * TILE <= n) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { store_output(output, first + k * sg.width, pack_scan(rows[k], combine(start, before[k]))); }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
      store_pack(output, first + k * sg.width, n, pack_scan(rows[k], combine(start, before[k])));
    }
  }
}
