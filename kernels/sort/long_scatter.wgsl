// sort/long_scatter: moves the keys of long segments to where their digit goes, in order. Reads each key once and writes it once.

const ROUND: u32 = WORKGROUP * ITEMS;
// What moves through workgroup memory: a key's words and, of a pair, where its value is.
const MOVED: u32 = KEY_WORDS + min(VALUE_WORDS, 1u);

// A round in order, one word of all keys after the other.
var<workgroup> exchange: array<u32, MOVED * ROUND>;
// Where the next key of each digit goes.
var<workgroup> digit_next: array<u32, DIGITS>;
// The same, less the place in the round.
var<workgroup> digit_bases: array<u32, DIGITS>;

@compute @workgroup_size(WORKGROUP)
fn sort_long_scatter(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let seat = subgroup * ITEMS * width + lane;
  if (!are_long(thread)) { return; }
  for (var number = id.x + id.y * grid.x; number < 2u * params.cells; number += params.groups) {
    // 1. Find the tile, if there is one.
    let tile = tile_of(number, thread);
    if (tile.first >= tile.past) { continue; }

    // 2. Find where its first key of each digit goes: behind keys of digits before, and those of this digit in tiles before.
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
      let counted = counted_of(tile, digit);
      digit_counts[digit] = counted.all;
      digit_next[digit] = tile.begin + counted.before;
    }
    digit_scan(lane, width, subgroup);
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_next[digit] += digit_counts[digit]; }

    for (var start = tile.first; start < tile.past; start += min(ROUND, tile.past - start)) {
      let valid = min(ROUND, tile.past - start);
      // 3. Load a round's keys: each subgroup takes ITEMS rows of one key a lane. Behind them stand keys that come last.
      tile_ranks_clear(thread, subgroups);
      let first = params.source_offset + start + seat;
      var keys: array<Key, ITEMS>;
      if (valid == ROUND) {
        // unroll
        for (var k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_source(first + k * width)); }
      } else {
        // unroll
        for (var k = 0u; k < ITEMS; k++) {
          keys[k] = ordered_last();
          if (seat + k * width < valid) { keys[k] = key_ordered(load_source(first + k * width)); }
        }
      }
      workgroupBarrier();

      // 4. Rank each key among the round's, and bring them in order. The next round's keys of a digit go behind these.
      tile_count(&keys, params.place, thread, lane, width, subgroup, subgroups);
      for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
        var end = ROUND;
        if (digit < DIGITS - 1u) { end = digit_counts[digit + 1u]; }
        digit_bases[digit] = digit_next[digit] - digit_counts[digit];
        digit_next[digit] += end - digit_counts[digit];
      }
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let position = tile_position(keys[k], params.place, lane, subgroup);
        // unroll
        for (var word = 0u; word < KEY_WORDS; word++) { exchange[word * ROUND + position] = key_word(keys[k], word); }
        if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * ROUND + position] = seat + k * width; }
      }
      workgroupBarrier();

      // 5. Scatter them: neighbours of one digit go to neighbouring places. With offsets that fall, counts may be wrong.
      // unroll
      for (var k = 0u; k < ITEMS; k++) {
        let at = k * WORKGROUP + thread;
        var key = ordered_last();
        // unroll
        for (var word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * ROUND + at]); }
        let goal = digit_bases[ordered_digit(key, params.place)] + at;
        if (at < valid && goal < params.n) {
          if (KEYS_STORED > 0u) { store_target_keys(params.target_offset + goal, key_restored(key)); }
          let index = start + exchange[(MOVED - 1u) * ROUND + at];
          // with VALUE_WORDS
          move_value(index, goal, index - tile.begin);
        }
      }
    }
    workgroupBarrier();
  }
}
