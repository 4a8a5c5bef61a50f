// select/tile_count: the first launch of a selection by counts. Reads each element once, writes one count a tile.

#define TILE (WORKGROUP * ROWS)

KERNEL SUBGROUP_KERNEL void select_tile_count(ARGUMENTS) {
  __local T reduce_shared[REDUCE_SHARED];
  const u32 tile = get_group_id(0);
  if (tile >= params.tiles) { return; }
  const u32 thread = invocation_place();
  input += params.input_offset;
  // 1. Each invocation asks the predicate of ROWS elements.
  const u32 first = tile * TILE + thread;
  const u32 last = params.n - 1u;
  T kept = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = first + k * WORKGROUP;
    if (index <= last && keeps(input, index, load_input(input, min(index, last)))) { kept += 1u; }
  }
  // 2. The workgroup adds them up. Behind the last tile's count stands none, which the scan turns into the total.
  const T total = block_reduce(kept, thread, reduce_shared);
  if (thread == 0u) { sums[tile] = total; }
  if (thread == 0u && tile == params.tiles - 1u) { sums[params.tiles] = identity(); }
}
