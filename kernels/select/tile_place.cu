// select/tile_place: the third launch of a selection by counts. Each workgroup brings a tile's elements to their places, from
// what lies before the tile. Reads each element once and writes it at most once.

#define TILE (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP) select_tile_place(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  output_rest += params.output_rest_offset;
  output_count += params.output_count_offset;
  input_values += params.input_values_offset;
  output_values += params.output_values_offset;
  const Keeping keeping = KEEPING;
  // None past the last one. A run of no elements counts none.
  if (tile >= params.tiles) {
    if (thread == 0u && tile == 0u) { output_count[0] = 0u; }
    return;
  }
  // 1. Load ROWS elements that lie together, and ask the predicate: bit k tells of element k.
  const u32 first = tile * TILE + thread * ROWS;
  const u32 last = params.n - 1u;
  Item rows[ROWS];
  u32 kept = 0u;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    rows[k] = load_input(input, min(first + k, last));
    if (first + k <= last && keeps(input, first + k, rows[k])) { kept |= 1u << k; }
  }
  // 2. The workgroup scans the counts.
  const BlockScan block = block_exclusive_scan(__popc(kept), thread);
  // 3. The count of all that are kept stands behind the last tile's.
  const u32 total = sums[params.tiles];
  if (thread == 0u && tile == 0u) { output_count[0] = total; }
  // 4. Write each element behind those kept before it, or behind those not kept, which may follow all that are. A predicate that does not
  // answer what it answered when elements were counted misplaces them, but not past the end.
  const u32 rest = SELECT_REST == 2u ? total : 0u;
  T before = combine(sums[tile], block.before);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const bool is_kept = (kept >> k & 1u) == 1u;
    const Held held = hold(keeping, rows[k], min(first + k, last), is_kept || (SELECT_REST != 0u && first + k <= last));
    if (is_kept) {
      store_kept(keeping, before, held);
      before += 1u;
    } else if (SELECT_REST != 0u && first + k <= last) {
      const u32 place = rest + first + k - before;
      if (place < params.n) { store_rest(keeping, place, held); }
    }
  }
}
