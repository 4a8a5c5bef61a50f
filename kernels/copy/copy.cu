// copy/copy: the ceiling that every kernel is measured against. Reads and writes each element once.

#define TILE_PACKS (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP) copy(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  const u32 first = tile * TILE_PACKS + thread;
  if ((tile + 1u) * TILE_PACKS * PACK <= params.n) {
    // 1. A full tile: all loads before the first store.
    Pack rows[ROWS];
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(input, first + k * WORKGROUP); }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { output[first + k * WORKGROUP] = rows[k]; }
  } else {
    // 2. The last tile.
    for (u32 k = 0u; k < ROWS; k++) {
      const u32 index = first + k * WORKGROUP;
      store_pack(output, index, params.n, load_pack(input, index, params.n, T()));
    }
  }
}
