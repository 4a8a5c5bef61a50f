// block/run_load: ROWS elements that lie together, as a segmented scan takes them: each its value, and 1 where its key begins a run. They
// come by way of workgroup memory, so that neighbours load neighbouring words.

@group(0) @binding(0) var<storage, read_write> input: array<u32>;

const TILE: u32 = WORKGROUP * ROWS;
const TILE_KEYS: u32 = (TILE + 1u) * KEY_WORDS;
const TILE_WORDS: u32 = TILE * RUN_WORDS;

// A word is left out after every 32, to keep lanes off each other's banks.
var<workgroup> staged_keys: array<u32, TILE_KEYS + (TILE_KEYS - 1u) / 32u>;
var<workgroup> staged_words: array<u32, TILE_WORDS + (TILE_WORDS - 1u) / 32u>;

struct RunKey {
  w: array<u32, KEY_WORDS>,
}

struct Runs {
  keys: array<RunKey, ROWS>,
  elements: array<T, ROWS>,
}

// Where a word is staged.
fn staged_at(word: u32) -> u32 {
  return word + word / 32u;
}

// A tile's keys behind the one before it, if there is one, and its values. Behind the last element come copies of that.
fn load_tile(first: u32, n: u32, seat: u32) {
  let count = min(n - first, TILE);
  if (seat < KEY_WORDS) { staged_keys[staged_at(seat)] = input[params.input_offset + (max(first, 1u) - 1u) * KEY_WORDS + seat]; }
  // unroll
  for (var j = 0u; j < ROWS * KEY_WORDS; j++) {
    let word = j * WORKGROUP + seat;
    staged_keys[staged_at(KEY_WORDS + word)] = input[params.input_offset + first * KEY_WORDS + min(word, count * KEY_WORDS - 1u)];
  }
  // unroll
  for (var j = 0u; j < ROWS * RUN_WORDS; j++) {
    let word = j * WORKGROUP + seat;
    let last = count * RUN_WORDS - 1u;
    if (TILE_VALUES) { staged_words[staged_at(word)] = load_run_word(first * RUN_WORDS + min(word, last)); }
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

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
// Each key is compared with the one before in registers. Behind the last element come identities.
fn load_runs(tile: u32, n: u32, seat: u32) -> Runs {
  load_tile(tile * TILE, n, seat);
  let first = tile * TILE + seat * ROWS;
  var runs: Runs;
  var before = load_key(seat * ROWS);
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let key = load_key(seat * ROWS + k + 1u);
    var difference = select(0u, 1u, first + k == 0u);
    // unroll
    for (var i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    var words: Words;
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) {
      if (TILE_VALUES) {
        words.w[i] = staged_words[staged_at((seat * ROWS + k) * RUN_WORDS + i)];
      } else {
        words.w[i] = load_run_word(0u);
      }
    }
    words.w[RUN_WORDS] = select(0u, 1u, difference != 0u);
    runs.keys[k] = key;
    runs.elements[k] = element_from_words(words);
    if (first + k >= n) { runs.elements[k] = identity(); }
    before = key;
  }
  return runs;
}

fn fold_runs(runs: Runs) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { sum = combine(sum, runs.elements[k]); }
  return sum;
}
