// sort/onesweep: one digit place of Onesweep (Adinets and Merrill 2022), for a portion of the tiles: their states are used
// again for the next portion. Ranks a tile's keys, finds by look-back how many of each digit came before in the portion, and
// scatters. Reads and writes each key once.

const TILE: u32 = WORKGROUP * ITEMS;
const ROUTES: u32 = PLACES * DIGITS;
const BUFFER_INPUT: u32 = 0u;
const BUFFER_TEMP: u32 = 1u;
const BUFFER_OUTPUT: u32 = 2u;
// For keys that nobody asks for.
const BUFFER_NONE: u32 = 3u;

var<workgroup> shared_word: u32;
var<workgroup> shared_place: u32;
var<workgroup> shared_stuck: atomic<u32>;
var<workgroup> subgroup_counts: array<atomic<u32>, MAX_SUBGROUPS * DIGITS>;
var<workgroup> digit_totals: array<atomic<u32>, DIGITS>;
var<workgroup> digit_bases: array<u32, DIGITS>;

fn load_key(source: u32, index: u32) -> StoredKey {
  if (source == BUFFER_INPUT) { return load_input(params.input_offset + index); }
  if (source == BUFFER_TEMP) { return load_temp(index); }
  return load_output(params.output_offset + index);
}

// Where a tile's keys begin.
fn tile_first(tile: u32) -> u32 {
  return (params.first_tile + tile) * TILE;
}

// Tests make some tiles silent or late.
fn tile_publishes(tile: u32) -> bool {
  if (FAULT == 0u || tile % FAULT_EVERY != FAULT_EVERY - 1u) { return true; }
  if (FAULT == 1u) { return false; }
  count_delay();
  return true;
}

// Counts a full tile's digits into digit_totals, for a tile that has not published in time.
fn recount(tile: u32, source: u32, thread: u32) {
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) { atomicStore(&digit_totals[digit], 0u); }
  workgroupBarrier();
  for (var k = 0u; k < ITEMS; k++) {
    let key = load_key(source, tile_first(tile) + k * WORKGROUP + thread);
    atomicAdd(&digit_totals[key_digit(key, params.place)], 1u);
  }
  workgroupBarrier();
}

@compute @workgroup_size(WORKGROUP)
fn sort_onesweep(
  @builtin(workgroup_id) id: vec3<u32>,
  @builtin(num_workgroups) grid: vec3<u32>,
  @builtin(local_invocation_index) thread: u32,
  @builtin(subgroup_invocation_id) lane: u32,
  @builtin(subgroup_size) width: u32,
  @builtin(subgroup_id) subgroup: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  // 1. Does this place need a pass, and between which buffers? Take the next tile.
  let route = ROUTES + 4u * params.place;
  if (thread == 0u) { shared_word = counts[route]; }
  if (workgroupUniformLoad(&shared_word) == 0u || id.x + id.y * grid.x >= params.slots) { return; }
  if (thread == 0u) {
    shared_word = count_ticket(params.slots);
    shared_place = params.place;
  }
  let taken = workgroupUniformLoad(&shared_word);
  let tile = taken % TICKETS;
  let epoch = taken / TICKETS;
  let source = counts[route + 1u];
  let destination = counts[route + 2u];
  let valid = min(params.n - tile_first(tile), TILE);

  // A state of no tile of this run must not seem to be a later epoch's: those past the last tile, and those that longer portions use.
  if (tile >= params.tiles || tile == params.slots - 1u) {
    let blank_from = select(params.slots, tile, tile >= params.tiles);
    let blank_to = select(tile + 1u, params.portion, tile == params.slots - 1u);
    for (var spare = blank_from * DIGITS + thread; spare < blank_to * DIGITS; spare += WORKGROUP) {
      count_publish(epoch, spare / DIGITS, spare % DIGITS, STATUS_NONE, 0u);
    }
    if (tile >= params.tiles) { return; }
  }

  // 2. Load the keys, and bring each into the order of unsigned numbers: each subgroup takes ITEMS rows of one key a lane. Places
  // past the end get keys that stay behind all.
  for (var i = thread; i < subgroups * DIGITS; i += WORKGROUP) { atomicStore(&subgroup_counts[i], 0u); }
  let first = tile_first(tile) + subgroup * ITEMS * width + lane;
  var keys: array<Key, ITEMS>;
  if (valid == TILE) {
    // One branch for all loads: a load within a branch of its own is waited for at the end of it.
    if (source == BUFFER_INPUT) {
      // unroll
      for (var k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_input(params.input_offset + first + k * width)); }
    } else if (source == BUFFER_TEMP) {
      // unroll
      for (var k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_temp(first + k * width)); }
    } else {
      // unroll
      for (var k = 0u; k < ITEMS; k++) { keys[k] = key_ordered(load_output(params.output_offset + first + k * width)); }
    }
  } else {
    // unroll
    for (var k = 0u; k < ITEMS; k++) {
      let index = first + k * width;
      keys[k] = ordered_last();
      if (index < params.n) { keys[k] = key_ordered(load_key(source, index)); }
    }
  }
  workgroupBarrier();

  // 3. Count the subgroup's keys of each digit.
  let cells = subgroup * DIGITS;
  // unroll
  for (var k = 0u; k < ITEMS; k++) { atomicAdd(&subgroup_counts[cells + ordered_digit(keys[k], params.place)], 1u); }
  workgroupBarrier();

  // 4. Publish the tile's counts. Scan them over the digits and, within a digit, over the subgroups: where in the tile each
  // subgroup's keys of each digit begin.
  let publishes = tile_publishes(tile);
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    var total = 0u;
    for (var s = 0u; s < subgroups; s++) { total += atomicLoad(&subgroup_counts[s * DIGITS + digit]); }
    count_publish(epoch, tile, digit, select(STATUS_NONE, STATUS_AGGREGATE, publishes), total);
    digit_counts[digit] = total;
    digit_bases[digit] = total;
  }
  digit_scan(lane, width, subgroup);
  for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
    var running = digit_counts[digit];
    for (var s = 0u; s < subgroups; s++) {
      let count = atomicLoad(&subgroup_counts[s * DIGITS + digit]);
      atomicStore(&subgroup_counts[s * DIGITS + digit], running);
      running += count;
    }
  }
  workgroupBarrier();

  // 5. Rank each key among the subgroup's keys of its digit: that is its place in the tile. (The digit place is read again, so that
  // digits are computed again instead of carried along in registers.)
  let place = shared_place;
  var positions: array<u32, POSITION_WORDS>;
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let digit = ordered_digit(keys[k], place);
    positions[k / 2u] |= subgroup_claim(cells + digit, subgroup_peers(digit, lane)) << (16u * (k % 2u));
  }

  var moved: array<Value, ITEMS>;
  // with VALUE_WORDS
  load_values(source, first, width, 0u, &moved);

  // 6. Look back, one invocation a digit. If a tile is stuck, the whole workgroup counts it and goes on.
  var offsets: array<u32, DIGITS_EACH>;
  var before: array<u32, DIGITS_EACH>;
  var next: array<u32, DIGITS_EACH>;
  // unroll
  for (var i = 0u; i < DIGITS_EACH; i++) {
    before[i] = 0u;
    next[i] = tile;
    offsets[i] = 0u;
    if (thread < DIGIT_THREADS) { offsets[i] = counts[params.offsets_at + i * DIGIT_THREADS + thread]; }
  }
  loop {
    if (thread == 0u) { atomicStore(&shared_stuck, 0u); }
    workgroupBarrier();
    if (thread < DIGIT_THREADS) {
      // unroll
      for (var i = 0u; i < DIGITS_EACH; i++) {
        var polls = 0u;
        while (next[i] > 0u) {
          // Several states in flight at once, taken in order as far as they are published.
          var window: array<CountState, LOOKBACK_WINDOW>;
          // unroll
          for (var j = 0u; j < LOOKBACK_WINDOW; j++) {
            window[j] = count_read(epoch, next[i] - 1u - min(j, next[i] - 1u), i * DIGIT_THREADS + thread);
          }
          var waits = false;
          // unroll
          for (var j = 0u; j < LOOKBACK_WINDOW; j++) {
            waits = waits || (next[i] > 0u && window[j].status == STATUS_NONE);
            if (next[i] > 0u && !waits) {
              before[i] += window[j].count;
              next[i] = select(next[i] - 1u, 0u, window[j].status == STATUS_PREFIX);
              polls = 0u;
            }
          }
          polls += select(0u, 1u, waits);
          if (FALLBACK == 1u && polls >= SPIN_LIMIT) {
            atomicMax(&shared_stuck, next[i]);
            break;
          }
        }
      }
    }
    workgroupBarrier();
    if (thread == 0u) { shared_word = atomicLoad(&shared_stuck); }
    let stuck = workgroupUniformLoad(&shared_word);
    if (stuck == 0u) { break; }
    recount(stuck - 1u, source, thread);
    for (var digit = thread; digit < DIGITS; digit += WORKGROUP) {
      count_help(epoch, stuck - 1u, digit, atomicLoad(&digit_totals[digit]));
    }
  }

  // 7. Publish the inclusive counts. A digit's keys go where its offset and the earlier tiles' keys end. Where the last
  // tile's end, the next portion's begin.
  if (thread < DIGIT_THREADS) {
    // unroll
    for (var i = 0u; i < DIGITS_EACH; i++) {
      let digit = i * DIGIT_THREADS + thread;
      if (publishes) { count_publish(epoch, tile, digit, STATUS_PREFIX, before[i] + digit_bases[digit]); }
      if (tile == params.tiles - 1u) { counts[params.next_at + digit] = offsets[i] + before[i] + digit_bases[digit]; }
      digit_bases[digit] = offsets[i] + before[i] - digit_counts[digit];
    }
  }

  // 8. Bring the keys in order, and scatter them: neighbours of one digit go to neighbouring places.
  scatter(source, destination, first, width, thread, valid, &keys, &positions, &moved);
}
