// sort/long_scatter: moves the keys of long segments to where their digit goes, in order. Reads each key once and writes it once.

#define ROUND (WORKGROUP * ITEMS)
// What moves through workgroup memory: a key's words and, of a pair, where its value is.
#define MOVED (KEY_WORDS + (VALUE_WORDS > 0u ? 1u : 0u))

// A round in order, one word of all keys after the other.
#define exchange (subgroup_counts + MAX_SUBGROUPS * DIGITS)
// Where the next key of each digit goes.
__shared__ u32 digit_next[DIGITS];
// The same, less the place in the round.
__shared__ u32 digit_bases[DIGITS];

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) sort_long_scatter(ARGUMENTS) {
  admit_successor();
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  const u32 seat = sg.id * ITEMS * sg.width + sg.lane;
  source += params.source_offset;
  target_keys += params.target_offset;
  source_values += params.source_values_offset;
  target_values += params.target_values_offset;
  if (!are_long(long_tiles)) { return; }
  for (u32 number = blockIdx.x; number < 2u * params.cells; number += params.groups) {
    // 1. Find the tile, if there is one.
    const Tile tile = tile_of(long_tiles, params, number);
    if (tile.first >= tile.past) { continue; }

    // 2. Find where its first key of each digit goes: behind keys of digits before, and those of this digit in tiles before.
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
      const Counted counted = counted_of(counts, params, tile, digit);
      digit_counts[digit] = counted.all;
      digit_next[digit] = tile.begin + counted.before;
    }
    digit_scan(sg);
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_next[digit] += digit_counts[digit]; }

    for (u32 start = tile.first; start < tile.past; start += min(ROUND, tile.past - start)) {
      const u32 valid = min(ROUND, tile.past - start);
      // 3. Load a round's keys: each subgroup takes ITEMS rows of one key a lane. Behind them stand keys that come last.
      tile_ranks_clear(thread, sg);
      const u32 first = start + seat;
      Key keys[ITEMS];
      if (valid == ROUND) {
#pragma unroll
        for (u32 k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_source(source, first + k * sg.width)); }
      } else {
#pragma unroll
        for (u32 k = 0u; k < ITEMS; k++) {
          keys[k] = ordered_last();
          if (seat + k * sg.width < valid) { keys[k] = key_ordered(load_source(source, first + k * sg.width)); }
        }
      }
      workgroup_barrier();

      // 4. Rank each key among the round's, and bring them in order. The next round's keys of a digit go behind these.
      tile_count(keys, params.place, thread, sg);
      for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
        const u32 end = digit == DIGITS - 1u ? ROUND : digit_counts[digit + 1u];
        digit_bases[digit] = digit_next[digit] - digit_counts[digit];
        digit_next[digit] += end - digit_counts[digit];
      }
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        const u32 position = tile_position(keys[k], params.place, sg);
#pragma unroll
        for (u32 word = 0u; word < KEY_WORDS; word++) { exchange[word * ROUND + position] = key_word(keys[k], word); }
        if (VALUE_WORDS > 0u) { exchange[(MOVED - 1u) * ROUND + position] = seat + k * sg.width; }
      }
      workgroup_barrier();

      // 5. Scatter them: neighbours of one digit go to neighbouring places. With offsets that fall, counts may be wrong.
#pragma unroll
      for (u32 k = 0u; k < ITEMS; k++) {
        const u32 at = k * WORKGROUP + thread;
        Key key = ordered_last();
#pragma unroll
        for (u32 word = 0u; word < KEY_WORDS; word++) { key = key_with_word(key, word, exchange[word * ROUND + at]); }
        const u32 goal = digit_bases[ordered_digit(key, params.place)] + at;
        if (at < valid && goal < params.n) {
          if (KEYS_STORED > 0u) { target_keys[goal] = key_restored(key); }
          const u32 index = start + exchange[(MOVED - 1u) * ROUND + at];
          // with VALUE_WORDS
          move_value(source_values, target_values, index, goal, index - tile.begin);
        }
      }
    }
    workgroup_barrier();
  }
}
