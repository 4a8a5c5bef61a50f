// sort/onesweep: one digit place of Onesweep (Adinets and Merrill 2022), for a portion of the tiles: their states are used
// again for the next portion. Ranks a tile's keys, finds by look-back how many of each digit came before in the portion, and
// scatters. Reads and writes each key once.

#define TILE (WORKGROUP * ITEMS)
#define ROUTES (PLACES * DIGITS)
#define BUFFER_INPUT 0u
#define BUFFER_TEMP 1u
#define BUFFER_OUTPUT 2u
// For keys that nobody asks for.
#define BUFFER_NONE 3u

__shared__ u32 shared_word;
__shared__ u32 shared_place;
__shared__ u32 shared_stuck;
// The subgroups' counts of each digit, then the tile's keys in order, one word at a time, or parts of their values.
extern __shared__ __align__(16) u32 subgroup_counts[];
#define exchange (subgroup_counts + MAX_SUBGROUPS * DIGITS)
__shared__ u32 digit_totals[DIGITS];
__shared__ u32 digit_bases[DIGITS];

// Where a tile's keys begin.
FUNCTION u32 tile_first(const Params &params, u32 tile) {
  return (params.first_tile + tile) * TILE;
}

// Tests make some tiles silent or late.
FUNCTION bool tile_publishes(CountWord *states, u32 tile) {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  count_delay(states);
  return true;
}

// Counts a full tile's digits into digit_totals, for a tile that has not published in time.
FUNCTION void recount(Keys source, const Params &params, u32 tile, u32 thread) {
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) { digit_totals[digit] = 0u; }
  workgroup_barrier();
  for (u32 k = 0u; k < ITEMS; k++) {
    const StoredKey key = load_key(source, tile_first(params, tile) + k * WORKGROUP + thread);
    atomicAdd(&digit_totals[key_digit(key, params.place)], 1u);
  }
  workgroup_barrier();
}

extern "C" __global__ void __launch_bounds__(WORKGROUP, RESIDENT) sort_onesweep(ARGUMENTS) {
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);

  // 1. Does this place need a pass, and between which buffers? Take the next tile.
  const u32 *route = counts + ROUTES + 4u * params.place;
  if (route[0] == 0u) { return; }
  if (thread == 0u) {
    shared_word = count_ticket(states, params.slots);
    shared_place = params.place;
  }
  const u32 taken = workgroup_uniform_load(&shared_word);
  const u32 tile = taken % TICKETS;
  const u32 epoch = taken / TICKETS;
  input += params.input_offset;
  const Keys source =
    keys_of(route[1] == BUFFER_INPUT, input, route[1] == BUFFER_TEMP ? temp : output + params.output_offset);
  StoredKey *destination = route[2] == BUFFER_TEMP ? temp : output + params.output_offset;
  const u32 valid = min(params.n - tile_first(params, tile), TILE);

  // A state of no tile of this run must not seem to be a later epoch's: those past the last tile, and those that longer portions use.
  if (tile >= params.tiles || tile == params.slots - 1u) {
    const u32 blank_from = tile >= params.tiles ? tile : params.slots;
    const u32 blank_to = tile == params.slots - 1u ? params.portion : tile + 1u;
    for (u32 spare = blank_from * DIGITS + thread; spare < blank_to * DIGITS; spare += WORKGROUP) {
      count_publish(states, epoch, spare / DIGITS, spare % DIGITS, STATUS_NONE, 0u);
    }
    if (tile >= params.tiles) { return; }
  }

  // 2. Load the keys, and bring each into the order of unsigned numbers: each subgroup takes ITEMS rows of one key a lane. Places
  // past the end get keys that stay behind all.
  for (u32 i = thread; i < sg.count * DIGITS; i += WORKGROUP) { subgroup_counts[i] = 0u; }
  const u32 first = tile_first(params, tile) + sg.id * ITEMS * sg.width + sg.lane;
  Key keys[ITEMS];
  if (valid == TILE) {
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_key(source, first + k * sg.width)); }
  } else {
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 index = first + k * sg.width;
      keys[k] = ordered_last();
      if (index < params.n) { keys[k] = key_ordered(load_key(source, index)); }
    }
  }
  workgroup_barrier();

  // 3. Count the subgroup's keys of each digit.
  u32 *cells = subgroup_counts + sg.id * DIGITS;
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { atomicAdd(&cells[ordered_digit(keys[k], params.place)], 1u); }
  workgroup_barrier();

  // 4. Publish the tile's counts. Scan them over the digits and, within a digit, over the subgroups: where in the tile each
  // subgroup's keys of each digit begin.
  const bool publishes = tile_publishes(states, tile);
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    u32 total = 0u;
    for (u32 s = 0u; s < sg.count; s++) { total += subgroup_counts[s * DIGITS + digit]; }
    count_publish(states, epoch, tile, digit, publishes ? STATUS_AGGREGATE : STATUS_NONE, total);
    digit_counts[digit] = total;
    digit_bases[digit] = total;
  }
  digit_scan(sg);
  for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
    u32 running = digit_counts[digit];
    for (u32 s = 0u; s < sg.count; s++) {
      const u32 count = subgroup_counts[s * DIGITS + digit];
      subgroup_counts[s * DIGITS + digit] = running;
      running += count;
    }
  }
  workgroup_barrier();

  // 5. Rank each key among the subgroup's keys of its digit: that is its place in the tile. (The digit place is read again, so that
  // digits are computed again instead of carried along in registers.)
  const u32 place = shared_place;
  u32 positions[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 digit = ordered_digit(keys[k], place);
    const Peers peers = subgroup_peers(digit, sg.lane);
    positions[k] = subgroup_claim(&cells[digit], peers);
    exchange[positions[k]] = key_word(keys[k], 0u);
  }

  input_values += params.input_values_offset;
  const Values source_values =
    values_of(route[1] == BUFFER_INPUT, input_values, route[1] == BUFFER_TEMP ? temp_values : output_values + params.output_values_offset);
  Value moved[ITEMS];
  // with VALUE_WORDS
  load_values(source_values, first, sg, params.n, 0u, SOURCE_VALUES == 1u || route[1] != BUFFER_INPUT, moved);

  // 6. Look back, one invocation a digit. If a tile is stuck, the whole workgroup counts it and goes on.
  u32 offsets[DIGITS_EACH];
  u32 before[DIGITS_EACH];
  u32 next[DIGITS_EACH];
#pragma unroll
  for (u32 i = 0u; i < DIGITS_EACH; i++) {
    before[i] = 0u;
    next[i] = tile;
    offsets[i] = thread < DIGIT_THREADS ? counts[params.offsets_at + i * DIGIT_THREADS + thread] : 0u;
  }
  while (true) {
    if (thread == 0u) { shared_stuck = 0u; }
    workgroup_barrier();
    if (thread < DIGIT_THREADS) {
#pragma unroll
      for (u32 i = 0u; i < DIGITS_EACH; i++) {
        u32 polls = 0u;
        while (next[i] > 0u) {
          // Several states in flight at once, taken in order as far as they are published.
          CountState window[LOOKBACK_WINDOW];
#pragma unroll
          for (u32 j = 0u; j < LOOKBACK_WINDOW; j++) {
            window[j] = count_read(states, epoch, next[i] - 1u - min(j, next[i] - 1u), i * DIGIT_THREADS + thread);
          }
          bool waits = false;
#pragma unroll
          for (u32 j = 0u; j < LOOKBACK_WINDOW; j++) {
            waits = waits || (next[i] > 0u && window[j].status == STATUS_NONE);
            if (next[i] > 0u && !waits) {
              before[i] += window[j].count;
              next[i] = window[j].status == STATUS_PREFIX ? 0u : next[i] - 1u;
              polls = 0u;
            }
          }
          polls += waits ? 1u : 0u;
          if (FALLBACK == 1u && polls >= SPIN_LIMIT) {
            atomicMax(&shared_stuck, next[i]);
            break;
          }
        }
      }
    }
    const u32 stuck = workgroup_uniform_load(&shared_stuck);
    if (stuck == 0u) { break; }
    recount(source, params, stuck - 1u, thread);
    for (u32 digit = thread; digit < DIGITS; digit += WORKGROUP) {
      count_help(states, epoch, stuck - 1u, digit, digit_totals[digit]);
    }
  }

  // 7. Publish the inclusive counts. A digit's keys go where its offset and the earlier tiles' keys end. Where the last
  // tile's end, the next portion's begin.
  if (thread < DIGIT_THREADS) {
#pragma unroll
    for (u32 i = 0u; i < DIGITS_EACH; i++) {
      const u32 digit = i * DIGIT_THREADS + thread;
      if (publishes) { count_publish(states, epoch, tile, digit, STATUS_PREFIX, before[i] + digit_bases[digit]); }
      if (tile == params.tiles - 1u) { counts[params.next_at + digit] = offsets[i] + before[i] + digit_bases[digit]; }
      digit_bases[digit] = offsets[i] + before[i] - digit_counts[digit];
    }
  }

  // 8. Bring the keys in order, and scatter them: neighbours of one digit go to neighbouring places.
  // Their first words are in order already.
  workgroup_barrier();
  Key sorted[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) { sorted[k] = key_with_word(sorted[k], 0u, exchange[k * WORKGROUP + thread]); }
#pragma unroll
  for (u32 word = 1u; word < KEY_WORDS; word++) {
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { exchange[positions[k]] = key_word(keys[k], word); }
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { sorted[k] = key_with_word(sorted[k], word, exchange[k * WORKGROUP + thread]); }
  }

  // What the next pass waits beside must not slow this one: it comes late.
  admit_successor();

  u32 kept = valid;
  // with VALUES_ALONE
  if (route[2] == BUFFER_NONE) { kept = 0u; }
  u32 targets[ITEMS];
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 at = k * WORKGROUP + thread;
    targets[k] = at + digit_bases[ordered_digit(sorted[k], params.place)];
    if (at < kept) { destination[targets[k]] = key_restored(sorted[k]); }
  }
  StoredValue *destination_values = route[2] == BUFFER_TEMP ? temp_values : output_values + params.output_values_offset;
  // with VALUE_WORDS
  move_values(source_values, destination_values, first, sg, thread, params.n, valid, exchange, moved, positions, targets);
}
