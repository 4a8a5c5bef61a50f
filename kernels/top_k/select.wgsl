// top_k/select: the first keys of each part of a segment, in order. A workgroup takes a part, tile by tile, and keeps in its memory what may
// be among the first K. When there is no room for all keys of a tile, it takes each invocation's first, and sorts what it has: from then on
// only keys that come before the K-th of these are taken. Reads each key once.

const TILE: u32 = WORKGROUP * ROWS;

var<workgroup> shared_kept: atomic<u32>;
var<workgroup> shared_passing: atomic<u32>;
var<workgroup> shared_word: u32;
var<workgroup> shared_part: Part;

@compute @workgroup_size(WORKGROUP)
fn top_k_select(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  if (group >= params.slots) { return; }
  // 1. Find the part, if there is one.
  if (thread == 0u) {
    shared_part = part_of(group);
    atomicStore(&shared_kept, 0u);
    atomicStore(&shared_passing, 0u);
  }
  let part = workgroupUniformLoad(&shared_part);
  if (part.slot == NO_SLOT) { return; }
  var next = part.first;
  var count = 0u;
  var last = ordered_last();
  var last_index = 0xffffffffu;
  var keys: array<Key, ROWS>;
  var left = 0u;
  var are_left = false;
  var first = next;
  while (are_left || next < part.end) {
    // 2. Load a tile, once nothing is left of the one before.
    if (!are_left) {
      first = next + thread;
      next += min(TILE, part.end - next);
      left = 0u;
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        let place = first + k * WORKGROUP;
        let index = index_of(min(place, part.end - 1u));
        if ((place < part.end) & (index < params.n)) { left |= 1u << k; }
        keys[k] = key_ordered(load_input(params.input_offset + min(index, max(params.n, 1u) - 1u)));
      }
    }
    // 3. Keys past the bound are out. How many are left?
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      let index = index_of(min(first + k * WORKGROUP, part.end - 1u));
      if (!comes_before(keys[k], index, last, last_index)) { left &= ~(1u << k); }
    }
    if (left > 0u) { atomicAdd(&shared_passing, countOneBits(left)); }
    workgroupBarrier();
    if (thread == 0u) {
      shared_word = atomicLoad(&shared_passing);
      atomicStore(&shared_passing, 0u);
    }
    let passing = workgroupUniformLoad(&shared_word);
    // 4. Take all, or each invocation's first in every part of its rows, or, to make room first, none.
    are_left = count + passing > ROOM;
    var taken = left;
    if (are_left) {
      taken = 0u;
      var bit = 0u;
      var best = keys[0];
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        if (k % ROWS_EACH == 0u) {
          taken |= bit;
          bit = 0u;
        }
        if ((((left >> k) & 1u) > 0u) & ((bit == 0u) | ordered_before(keys[k], best))) {
          bit = 1u << k;
          best = keys[k];
        }
      }
      taken = select(0u, taken | bit, count <= ROOM / 2u);
    }
    left &= ~taken;
    if (taken > 0u) {
      var at = atomicAdd(&shared_kept, countOneBits(taken));
      // unroll
      for (var k = 0u; k < ROWS; k++) {
        if (((taken >> k) & 1u) > 0u) {
          kept_keys[at] = keys[k];
          kept_indices[at] = index_of(first + k * WORKGROUP);
          at += 1u;
        }
      }
    }
    workgroupBarrier();
    if (thread == 0u) { shared_word = atomicLoad(&shared_kept); }
    count = workgroupUniformLoad(&shared_word);
    // 5. Bring them in order, to know the bound, or because these are all.
    let orders = are_left || next == part.end;
    order_kept(select(0u, count, orders), thread);
    if (orders) {
      count = min(count, params.k);
      if (thread == 0u) { atomicStore(&shared_kept, count); }
      if (count == params.k) {
        last = kept_keys[count - 1u];
        last_index = kept_indices[count - 1u];
      }
    }
  }
  // 6. Write what is wanted of them. Where there are fewer, what says that there is none stands behind them.
  let most = select(count, params.k, PADS > 0u);
  for (var i = thread; i < most; i += WORKGROUP) {
    var at = part.slot * params.k + i;
    // with GIVES_LAST
    if (i + 1u != max(count, 1u)) { continue; }
    // with GIVES_LAST
    at = part.slot;
    let index = select(0xffffffffu, kept_indices[min(i, ROOM - 1u)], i < count);
    // with CHOOSES
    chosen[at] = index;
    // with GIVES_KEYS
    give_key(at, index);
    // with VALUE_WORDS
    give_value(at, index, part.segment_begin);
  }
}
