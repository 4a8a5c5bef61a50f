// top_k/rows: the first keys of each row. A workgroup takes several rows, as many as it has an invocation for each key of. Each of these
// holds a key, and counts the keys of its row that come before it. Reads each key once.

var<workgroup> shared_keys: array<Key, WORKGROUP>;
// with STAYS
var<workgroup> shared_wanted: array<u32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn top_k_rows(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
) {
  let group = id.x + id.y * grid.x;
  // 1. Load a key. Rows lie one after the other, and the last may be shorter.
  let rows = WORKGROUP / params.width;
  let first = group * rows * params.width;
  let row = thread / params.width;
  let begin = row * params.width;
  let count = params.n - min(first, params.n);
  let end = min(begin + params.width, count);
  let is_key = row < rows && thread < count;
  var key = ordered_last();
  if (is_key) { key = key_ordered(load_input(params.input_offset + first + thread)); }
  shared_keys[thread] = key;
  workgroupBarrier();
  // 2. Count the keys that come before it. Of equal ones those with smaller indices do.
  var place = 0u;
  if (is_key) {
    for (var i = begin; i < end; i++) {
      let other = shared_keys[i];
      if (ordered_before(other, key) | ((i < thread) & !ordered_before(key, other))) { place += 1u; }
    }
  }
  // 3. If keys stay as they stand, count the wanted ones before it.
  var is_wanted = is_key && place < params.k;
  // with STAYS
  shared_wanted[thread] = select(0u, 1u, is_wanted);
  // with STAYS
  workgroupBarrier();
  // with STAYS
  place = 0u;
  // with STAYS
  for (var i = begin; i < thread && is_wanted; i++) { place += shared_wanted[i]; }
  // 4. Behind the keys of a short row stands what says that there is none.
  var index = first + thread;
  if (!is_key) {
    place = thread - begin;
    index = 0xffffffffu;
    is_wanted = row < rows && begin < count && place < params.k;
  }
  var at = (group * rows + row) * params.k + place;
  // with GIVES_LAST
  is_wanted = is_key && place + 1u == min(params.k, end - begin);
  // with GIVES_LAST
  at = group * rows + row;
  // 5. Write what is wanted.
  if (is_wanted) {
    // with GIVES_KEYS
    give_key(at, index);
    // with VALUE_WORDS
    give_value(at, index, first + begin);
  }
}
