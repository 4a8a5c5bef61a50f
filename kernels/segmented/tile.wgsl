// segmented/tile: a tile of elements in segments, as a segmented scan takes them: each its value, and 1 where a segment begins. They move by
// way of workgroup memory, so that neighbours move neighbouring words. Each invocation has ROWS of them that lie together.

const TILE: u32 = WORKGROUP * ROWS;

// A bit an element: whether a segment begins there. An invocation reads two words of them.
const HEADS: u32 = (TILE + 31u) / 32u + 1u;

var<workgroup> staged_words: array<u32, TILE * RUN_WORDS + TILE * RUN_WORDS / 32u>;
var<workgroup> staged_heads: array<atomic<u32>, HEADS>;

// The words of an invocation's values, and which of them begin segments: a bit each.
struct Segmented {
  w: array<u32, OWN_WORDS>,
  heads: u32,
}

// A word is left out after every 32, to keep lanes off each other's banks.
fn staged(word: u32) -> u32 {
  return word + word / 32u;
}

// How many elements the tile has.
fn tile_count(tile: u32, n: u32) -> u32 {
  return min(n - tile * TILE, TILE);
}

fn mark_head(place: u32) {
  atomicOr(&staged_heads[place / 32u], 1u << (place % 32u));
}

// Asks for a tile's values, a row of neighbours at a time, and clears the heads, which are to be marked before the values are taken.
// All invocations call it together.
fn ask_tile(tile: u32, n: u32, seat: u32) -> Segmented {
  let last = tile_count(tile, n) - 1u;
  var asked: Segmented;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let index = tile * TILE + min(k * WORKGROUP + seat, last);
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) { asked.w[k * RUN_WORDS + i] = load_input_word(index, i); }
  }
  workgroupBarrier();
  for (var i = seat; i < HEADS; i += WORKGROUP) { atomicStore(&staged_heads[i], 0u); }
  workgroupBarrier();
  return asked;
}

// An invocation's own of them.
fn take_tile(asked: Segmented, tile: u32, seat: u32) -> Segmented {
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) {
      staged_words[staged((k * WORKGROUP + seat) * RUN_WORDS + i)] = asked.w[k * RUN_WORDS + i];
    }
  }
  workgroupBarrier();
  var taken: Segmented;
  // unroll
  for (var i = 0u; i < OWN_WORDS; i++) { taken.w[i] = staged_words[staged(seat * OWN_WORDS + i)]; }
  let word = seat * ROWS / 32u;
  let bit = seat * ROWS % 32u;
  let above = select(atomicLoad(&staged_heads[word + 1u]) << (32u - max(bit, 1u)), 0u, bit == 0u);
  taken.heads = (atomicLoad(&staged_heads[word]) >> bit) | above;
  // The first of all begins a segment, wherever the first one does.
  taken.heads |= select(0u, 1u, tile + seat == 0u);
  return taken;
}

fn is_head(taken: Segmented, k: u32) -> bool {
  return ((taken.heads >> k) & 1u) == 1u;
}

// An invocation's element `k`, and the identity behind the last. The first of a segment has what that starts from.
fn tile_element(taken: Segmented, tile: u32, n: u32, seat: u32, k: u32) -> T {
  if (seat * ROWS + k >= tile_count(tile, n)) { return identity(); }
  var words: Words;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { words.w[i] = taken.w[k * RUN_WORDS + i]; }
  words.w[RUN_WORDS] = 0u;
  let element = element_from_words(words);
  if (!is_head(taken, k)) { return element; }
  words = element_to_words(combine(params.initial, element));
  words.w[RUN_WORDS] = 1u;
  return element_from_words(words);
}

fn fold_tile(taken: Segmented, tile: u32, n: u32, seat: u32) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { sum = combine(sum, tile_element(taken, tile, n, seat, k)); }
  return sum;
}

// Scans an invocation's elements from what lies before them, and puts the results where the elements were.
fn scan_tile(taken: Segmented, tile: u32, n: u32, seat: u32, before: T) {
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    var given = running;
    if (is_head(taken, k)) { given = params.initial; }
    running = combine(running, tile_element(taken, tile, n, seat, k));
    if (EXCLUSIVE == 0u) { given = running; }
    let words = element_to_words(given);
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) { staged_words[staged((seat * ROWS + k) * RUN_WORDS + i)] = words.w[i]; }
  }
  workgroupBarrier();
}
