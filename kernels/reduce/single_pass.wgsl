// reduce/single_pass: one launch. Each workgroup reduces a run of tiles; the last to arrive combines the partials, always
// in the same order. Reads each element once.

const TILE_PACKS: u32 = WORKGROUP * ROWS;
const TILE: u32 = TILE_PACKS * PACK;

var<workgroup> shared_arrivals: u32;

@compute @workgroup_size(WORKGROUP)
fn reduce_single_pass(
  @builtin(workgroup_id) id: vec3<u32>,
  invocation: Invocation,
) {
  let thread = invocation_place(invocation);
  let group = id.x;
  // 1. This workgroup's run of tiles.
  let share = params.tiles / params.groups;
  let extra = params.tiles % params.groups;
  let begin = group * share + min(group, extra);
  let end = begin + share + select(0u, 1u, group < extra);
  // 2. Neighbouring invocations read neighbouring packs if the operator commutes; else each reads packs that lie together.
  let first = select(thread * ROWS, thread, COMMUTATIVE == 1u);
  let step = select(1u, WORKGROUP, COMMUTATIVE == 1u);
  var sum = identity();
  var tile = begin;
  // 3. Of an operator that commutes, where each workgroup has two tiles and it pays: a pack is combined, and the next tile's takes
  // its place, so that loads are always on their way.
  if (AHEAD == 1u && share >= 2u) {
    var rows: array<Pack, ROWS>;
    var at = params.input_offset + tile * TILE_PACKS + first;
    // unroll
    for (var k = 0u; k < ROWS; k++) { rows[k] = load_input(at + k * step); }
    for (tile++; tile < min(end, params.n / TILE); tile++) {
      at += TILE_PACKS;
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        sum = combine(sum, pack_fold(rows[k]));
        rows[k] = load_input(at + k * step);
      }
    }
    // unroll
    for (var k = 0u; k < ROWS; k++) { sum = combine(sum, pack_fold(rows[k])); }
  }
  // 4. What is left, tile by tile.
  for (; tile < end; tile++) {
    var rows: array<Pack, ROWS>;
    let at = tile * TILE_PACKS + first;
    if ((tile + 1u) * TILE <= params.n) {
      // unroll
      for (var k = 0u; k < ROWS; k++) { rows[k] = load_input(params.input_offset + at + k * step); }
    } else {
      // unroll
      for (var k = 0u; k < ROWS; k++) { rows[k] = load_pack(at + k * step, params.n, identity()); }
    }
    if (COMMUTATIVE == 1u) {
      // unroll
      for (var k = 0u; k < ROWS; k++) { sum = combine(sum, pack_fold(rows[k])); }
    } else {
      var part = identity();
      // unroll
      for (var k = 0u; k < ROWS; k++) { part = combine(part, pack_fold(rows[k])); }
      sum = combine(sum, block_reduce(part, invocation));
    }
  }
  // 5. The workgroup's partial. That of one alone is the result.
  if (COMMUTATIVE == 1u) { sum = block_reduce(sum, invocation); }
  if (params.groups == 1u) {
    if (thread == 0u) { store_output(params.output_offset, combine(params.initial, sum)); }
    return;
  }
  if (thread == 0u) {
    partial_publish(group, sum);
    shared_arrivals = atomicAdd(&counter[0], 1u) + 1u;
  }
  if (workgroupUniformLoad(&shared_arrivals) < params.groups) { return; }
  // 6. The last workgroup combines the partials in order, and leaves the scratch clean.
  let each = (params.groups + WORKGROUP - 1u) / WORKGROUP;
  var part = identity();
  for (var k = 0u; k < each; k++) {
    part = combine(part, partial_take(thread * each + k, params.groups));
  }
  let total = block_reduce(part, invocation);
  if (thread == 0u) {
    store_output(params.output_offset, combine(params.initial, total));
    atomicStore(&counter[0], 0u);
  }
}
