// by_key/tile_scan: the third launch of a reduction of runs. Each workgroup scans a tile from what lies before it. Reads each element
// once and writes one key and one value a run.

#define TILE (WORKGROUP * ROWS)

extern "C" __global__ void __launch_bounds__(WORKGROUP)
by_key_tile_scan(
  const u32 *input, const u32 *input_values, const T *sums, u32 *output, u32 *output_values, u32 *output_count,
  Params params
) {
  admit_successor();
  follow_predecessor();
  const u32 tile = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  output_values += params.output_values_offset;
  output_count += params.output_count_offset;
  // 1. Load ROWS elements that lie together, and fold them.
  const u32 first = tile * TILE + thread * ROWS;
  T rows[ROWS];
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    rows[k] = load_run(input, input_values, first + k, params.n);
    sum = combine(sum, rows[k]);
  }
  // 2. The workgroup scans the sums.
  const BlockScan block = block_exclusive_scan(sum, thread);
  // 3. Behind the last tile's stands the total: with it the last run ends, and the count of runs is known.
  if (thread == 0u && tile == 0u) {
    const T end = sums[params.tiles];
    store_run_total(output_values, end);
    output_count[0] = element_to_words(end).w[RUN_WORDS];
  }
  // 4. Write the runs that begin here.
  T running = combine(sums[tile], block.before);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    store_run(input, output, output_values, first + k, rows[k], running);
    running = combine(running, rows[k]);
  }
}
