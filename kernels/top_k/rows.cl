// top_k/rows: the first keys of each row. A workgroup takes several rows, as many as it has an invocation for each key of. Each of these
// holds a key, and counts the keys of its row that come before it. Reads each key once.

KERNEL void top_k_rows(ARGUMENTS) {
  __local Key shared_keys[WORKGROUP];
  // with STAYS
  __local u32 shared_wanted[WORKGROUP];
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  target_keys += params.target_offset;
  target_values += params.target_values_offset;
  // 1. Load a key. Rows lie one after the other, and the last may be shorter.
  const u32 rows = WORKGROUP / params.width;
  const u32 first = get_group_id(0) * rows * params.width;
  const u32 row = thread / params.width;
  const u32 begin = row * params.width;
  const u32 count = params.n - min(first, params.n);
  const u32 end = min(begin + params.width, count);
  const bool is_key = row < rows && thread < count;
  Key key = ordered_last();
  if (is_key) { key = key_ordered(load_input(input, first + thread)); }
  shared_keys[thread] = key;
  workgroup_barrier();
  // 2. Count the keys that come before it. Of equal ones those with smaller indices do.
  u32 place = 0u;
  if (is_key) {
    for (u32 i = begin; i < end; i++) {
      const Key other = shared_keys[i];
      if (ordered_before(other, key) | ((i < thread) & !ordered_before(key, other))) { place += 1u; }
    }
  }
  // 3. If keys stay as they stand, count the wanted ones before it.
  bool is_wanted = is_key && place < params.k;
  // with STAYS
  shared_wanted[thread] = is_wanted ? 1u : 0u;
  // with STAYS
  workgroup_barrier();
  // with STAYS
  place = 0u;
  // with STAYS
  for (u32 i = begin; i < thread && is_wanted; i++) { place += shared_wanted[i]; }
  // 4. Behind the keys of a short row stands what says that there is none.
  u32 index = first + thread;
  if (!is_key) {
    place = thread - begin;
    index = 0xffffffffu;
    is_wanted = row < rows && begin < count && place < params.k;
  }
  u32 at = (get_group_id(0) * rows + row) * params.k + place;
  // with GIVES_LAST
  is_wanted = is_key && place + 1u == min(params.k, end - begin);
  // with GIVES_LAST
  at = get_group_id(0) * rows + row;
  // 5. Write what is wanted.
  if (is_wanted) {
    // with GIVES_KEYS
    give_key(input, target_keys, params.n, at, index);
    // with VALUE_WORDS
    give_value(input_values, target_values, params.n, at, index, first + begin);
  }
}
