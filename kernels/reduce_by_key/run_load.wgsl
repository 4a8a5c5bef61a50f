// reduce_by_key/run_load: ROWS elements that lie together, as a segmented scan takes them: each its value, and 1 where its key begins a run. Each
// invocation loads its own.

const TILE: u32 = WORKGROUP * ROWS;

struct RunKey {
  w: array<u32, KEY_WORDS>,
}

struct Runs {
  keys: array<RunKey, ROWS>,
  elements: array<T, ROWS>,
}

fn load_key(index: u32) -> RunKey {
  var key: RunKey;
  // unroll
  for (var i = 0u; i < KEY_WORDS; i++) { key.w[i] = load_input_word(index, i); }
  return key;
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup.
// Each key is compared with the one before in registers; the one before the first is loaded for that alone. Behind the last
// element come identities.
fn load_runs(tile: u32, n: u32, seat: u32) -> Runs {
  let first = tile * TILE + seat * ROWS;
  let last = n - 1u;
  var runs: Runs;
  var before = load_key(min(max(first, 1u) - 1u, last));
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let index = min(first + k, last);
    let key = load_key(index);
    var difference = select(0u, 1u, first + k == 0u);
    // unroll
    for (var i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    var words: Words;
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) { words.w[i] = load_run_word(index, i); }
    words.w[RUN_WORDS] = select(0u, 1u, difference != 0u);
    runs.keys[k] = key;
    runs.elements[k] = element_from_words(words);
    if (first + k > last) { runs.elements[k] = identity(); }
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
