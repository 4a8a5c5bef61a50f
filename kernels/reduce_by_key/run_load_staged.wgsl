// reduce_by_key/run_load_staged: reduce_by_key/run_load by way of workgroup memory, so that neighbours load neighbouring words. A tile's elements stay there
// and are read when they are needed, so that few registers are held while a tile looks back.

const TILE: u32 = WORKGROUP * ROWS;

// A word is left out after every 32, to keep lanes off each other's banks.
var<workgroup> staged_keys: array<u32, WORKGROUP * OWN_KEYS + WORKGROUP * OWN_KEYS / 32u>;
var<workgroup> staged_words: array<u32, WORKGROUP * OWN_WORDS + WORKGROUP * OWN_WORDS / 32u>;
var<workgroup> staged_before: array<u32, KEY_WORDS>;
var<workgroup> staged_tile: u32;

struct RunKey {
  w: array<u32, KEY_WORDS>,
}

// Where an invocation's elements are, and which of them begin runs: a bit each.
struct Runs {
  tile: u32,
  n: u32,
  seat: u32,
  heads: u32,
}

fn staged(word: u32) -> u32 {
  return word + word / 32u;
}

// Where the words are staged that all invocations load, a row at a time.
fn staged_row(seat: u32, row: u32) -> u32 {
  if (WORKGROUP % 32u == 0u) { return staged(seat) + staged(row * WORKGROUP); }
  return staged(row * WORKGROUP + seat);
}

// Where the word `i` is staged of the `own` words that each invocation has: the same for all, but for where its own begin, if that can be.
fn staged_own(seat: u32, own: u32, i: u32) -> u32 {
  if (32u % own == 0u || own % 32u == 0u) { return staged(seat * own) + staged(i); }
  return staged(seat * own + i);
}

// A tile's keys, and its values. Behind the last element come copies of its key, and identities.
fn load_tile(runs: Runs) {
  let first = runs.tile * TILE;
  let count = min(runs.n - first, TILE);
  if (runs.seat == 0u) { staged_tile = runs.tile; }
  for (var i = runs.seat; i < KEY_WORDS; i += WORKGROUP) {
    staged_before[i] = load_input(params.input_offset + (max(first, 1u) - 1u) * KEY_WORDS + i);
  }
  let tile_keys = params.input_offset + first * KEY_WORDS;
  if (count == TILE) {
    let keys = tile_keys + runs.seat;
    // unroll
    for (var row = 0u; row < OWN_KEYS; row++) { staged_keys[staged_row(runs.seat, row)] = load_input(keys + row * WORKGROUP); }
    if (TILE_VALUES != 0u) {
      // unroll
      for (var row = 0u; row < OWN_WORDS; row++) {
        staged_words[staged_row(runs.seat, row)] = load_run_word(first, row * WORKGROUP + runs.seat);
      }
    }
  } else {
    for (var row = 0u; row < OWN_KEYS; row++) {
      let word = row * WORKGROUP + runs.seat;
      let behind = (count - 1u) * KEY_WORDS + word % KEY_WORDS;
      staged_keys[staged_row(runs.seat, row)] = load_input(tile_keys + select(behind, word, word < count * KEY_WORDS));
    }
    var none = element_to_words(identity());
    for (var row = 0u; row < select(0u, OWN_WORDS, TILE_VALUES != 0u); row++) {
      let word = row * WORKGROUP + runs.seat;
      var loaded = none.w[word % RUN_WORDS];
      if (word < count * RUN_WORDS) { loaded = load_run_word(first, word); }
      staged_words[staged_row(runs.seat, row)] = loaded;
    }
  }
  workgroupBarrier();
}

// An invocation's key `k`, and the one before its first.
fn load_key(seat: u32, k: u32) -> RunKey {
  var key: RunKey;
  // unroll
  for (var i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_keys[staged_own(seat, OWN_KEYS, k * KEY_WORDS + i)]; }
  return key;
}

fn load_key_before(seat: u32) -> RunKey {
  if (seat != 0u) { return load_key(seat - 1u, ROWS - 1u); }
  var key: RunKey;
  // unroll
  for (var i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_before[i]; }
  return key;
}

// An invocation's element `k`, and the identity behind the last.
fn load_element(runs: Runs, k: u32) -> T {
  var words: Words;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) {
    if (TILE_VALUES != 0u) {
      words.w[i] = staged_words[staged_own(runs.seat, OWN_WORDS, k * RUN_WORDS + i)];
    } else {
      words.w[i] = load_run_word(0u, i);
    }
  }
  words.w[RUN_WORDS] = (runs.heads >> k) & 1u;
  var element = identity();
  if (TILE_VALUES != 0u || runs.tile * TILE + runs.seat * ROWS + k < runs.n) { element = element_from_words(words); }
  return element;
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
// Each key is compared with the one before; the first of all begins a run.
fn load_runs(tile: u32, n: u32, seat: u32) -> Runs {
  var runs = Runs(tile, n, seat, select(0u, 1u, tile + seat == 0u));
  load_tile(runs);
  var before = load_key_before(seat);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let key = load_key(seat, k);
    var difference = 0u;
    // unroll
    for (var i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    runs.heads |= select(0u, 1u << k, difference != 0u);
    before = key;
  }
  return runs;
}

fn fold_runs(runs: Runs) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { sum = combine(sum, load_element(runs, k)); }
  return sum;
}
