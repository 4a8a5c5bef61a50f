// block/run_load_staged: block/run_load by way of workgroup memory, so that neighbours load neighbouring words. A tile's elements stay there
// and are read when they are needed, so that few registers are held while a tile looks back.

@group(0) @binding(0) var<storage, read_write> input: array<u32>;

const TILE: u32 = WORKGROUP * ROWS;
const TILE_KEYS: u32 = (TILE + 1u) * KEY_WORDS;
const TILE_WORDS: u32 = TILE * RUN_WORDS;

// A word is left out after every 32, to keep lanes off each other's banks.
var<workgroup> staged_keys: array<u32, TILE_KEYS + (TILE_KEYS - 1u) / 32u>;
var<workgroup> staged_words: array<u32, TILE_WORDS + (TILE_WORDS - 1u) / 32u>;
var<workgroup> staged_tile: u32;

struct RunKey {
  w: array<u32, KEY_WORDS>,
}

// Where an invocation's elements are.
struct Runs {
  tile: u32,
  n: u32,
  seat: u32,
}

// Where a word is staged.
fn staged_at(word: u32) -> u32 {
  return word + word / 32u;
}

// A tile's keys behind the one before it, if there is one, and its values. Behind the last element come copies of that.
fn load_tile(runs: Runs) {
  let first = runs.tile * TILE;
  let last = min(runs.n - first, TILE) - 1u;
  if (runs.seat == 0u) { staged_tile = runs.tile; }
  if (runs.seat < KEY_WORDS) {
    staged_keys[staged_at(runs.seat)] = input[params.input_offset + (max(first, 1u) - 1u) * KEY_WORDS + runs.seat];
  }
  let keys = params.input_offset + first * KEY_WORDS;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    // unroll
    for (var i = 0u; i < KEY_WORDS; i++) {
      let word = (k * KEY_WORDS + i) * WORKGROUP + runs.seat;
      staged_keys[staged_at(KEY_WORDS + word)] = input[keys + min(word, last * KEY_WORDS + KEY_WORDS - 1u)];
    }
  }
  if (TILE_VALUES != 0u) {
    // unroll
    for (var k = 0u; k < ROWS; k++) {
      // unroll
      for (var i = 0u; i < RUN_WORDS; i++) {
        let word = (k * RUN_WORDS + i) * WORKGROUP + runs.seat;
        staged_words[staged_at(word)] = load_run_word(first + min(word / RUN_WORDS, last), word % RUN_WORDS);
      }
    }
  }
  workgroupBarrier();
}

// The key before a tile's first one has the number 0.
fn load_key(number: u32) -> RunKey {
  var key: RunKey;
  // unroll
  for (var i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_keys[staged_at(number * KEY_WORDS + i)]; }
  return key;
}

// An invocation's element `k`, and the identity behind the last. Its key is compared with the one before in registers.
fn load_element(runs: Runs, k: u32, key: RunKey, before: RunKey) -> T {
  let place = runs.seat * ROWS + k;
  var difference = select(0u, 1u, runs.tile * TILE + place == 0u);
  // unroll
  for (var i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
  var words: Words;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) {
    if (TILE_VALUES != 0u) {
      words.w[i] = staged_words[staged_at(place * RUN_WORDS + i)];
    } else {
      words.w[i] = load_run_word(0u, i);
    }
  }
  words.w[RUN_WORDS] = select(0u, 1u, difference != 0u);
  var element = identity();
  if (runs.tile * TILE + place < runs.n) { element = element_from_words(words); }
  return element;
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
fn load_runs(tile: u32, n: u32, seat: u32) -> Runs {
  let runs = Runs(tile, n, seat);
  load_tile(runs);
  return runs;
}

fn fold_runs(runs: Runs) -> T {
  var sum = identity();
  var before = load_key(runs.seat * ROWS);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let key = load_key(runs.seat * ROWS + k + 1u);
    sum = combine(sum, load_element(runs, k, key, before));
    before = key;
  }
  return sum;
}
