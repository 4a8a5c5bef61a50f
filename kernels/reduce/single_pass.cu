// reduce/single_pass: one launch. Each workgroup reduces a run of tiles; the last to arrive combines the partials, always
// in the same order. Reads each element once.

#define TILE_PACKS (WORKGROUP * ROWS)
#define TILE (TILE_PACKS * PACK)

__shared__ u32 shared_arrivals;

extern "C" __global__ void __launch_bounds__(WORKGROUP) reduce_single_pass(ARGUMENTS) {
  // Blocks that come while these run take the places that are free, unevenly over the device. So where each of these has long to run,
  // it admits them at its end.
  const bool is_short = params.tiles < 2u * params.groups;
  if (is_short) { admit_successor(); }
  follow_predecessor();
  const u32 group = blockIdx.x;
  const u32 thread = threadIdx.x;
  input += params.input_offset;
  output += params.output_offset;
  // 1. This workgroup's run of tiles.
  const u32 share = params.tiles / params.groups;
  const u32 extra = params.tiles % params.groups;
  const u32 begin = group * share + min(group, extra);
  const u32 end = begin + share + (group < extra ? 1u : 0u);
  // 2. Neighbouring invocations read neighbouring packs if the operator commutes; else each reads packs that lie together.
  const u32 first = COMMUTATIVE == 1u ? thread : thread * ROWS;
  const u32 step = COMMUTATIVE == 1u ? WORKGROUP : 1u;
  T sum = identity();
  u32 tile = begin;
  // 3. Of an operator that commutes, where each workgroup has two tiles and it pays: a pack is combined, and the next tile's takes
  // its place, so that loads are always on their way.
  if (AHEAD == 1u && share >= 2u) {
    Pack rows[ROWS];
    Input from = input_from(input, tile * TILE_PACKS + first);
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(from, k * step); }
    for (tile++; tile < min(end, params.n / TILE); tile++) {
      from = input_from(from, TILE_PACKS);
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) {
        sum = combine(sum, pack_fold(rows[k]));
        rows[k] = load_input(from, k * step);
      }
    }
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, pack_fold(rows[k])); }
  }
  // 4. What is left, tile by tile.
  for (; tile < end; tile++) {
    Pack rows[ROWS];
    const u32 at = tile * TILE_PACKS + first;
    if ((tile + 1u) * TILE <= params.n) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_input(input, at + k * step); }
    } else {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { rows[k] = load_pack(input, at + k * step, params.n, identity()); }
    }
    if (COMMUTATIVE == 1u) {
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, pack_fold(rows[k])); }
    } else {
      T part = identity();
#pragma unroll
      for (u32 k = 0u; k < ROWS; k++) { part = combine(part, pack_fold(rows[k])); }
      sum = combine(sum, block_reduce(part, thread));
    }
  }
  if (!is_short) { admit_successor(); }
  // 5. The workgroup's partial. That of one alone is the result.
  if (COMMUTATIVE == 1u) { sum = block_reduce(sum, thread); }
  if (params.groups == 1u) {
    if (thread == 0u) { store_output(output, 0u, combine(params.initial, sum)); }
    return;
  }
  if (thread == 0u) {
    partial_publish(partials, group, sum);
    shared_arrivals = atomicAdd(&counter[0], 1u) + 1u;
  }
  if (workgroup_uniform_load(&shared_arrivals) < params.groups) { return; }
  // 6. The last workgroup combines the partials in order, and leaves the scratch clean.
  const u32 each = (params.groups + WORKGROUP - 1u) / WORKGROUP;
  T part = identity();
  for (u32 k = 0u; k < each; k++) {
    part = combine(part, partial_take(partials, thread * each + k, params.groups));
  }
  const T total = block_reduce(part, thread);
  if (thread == 0u) {
    store_output(output, 0u, combine(params.initial, total));
    store_relaxed(&counter[0], 0u);
  }
}
