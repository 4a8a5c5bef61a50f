// segmented/tile: a tile of elements in segments, as a segmented scan takes them: each its value, and 1 where a segment begins. They move by
// way of workgroup memory, so that neighbours move neighbouring words. Each invocation has ROWS of them that lie together.

const TILE: u32 = WORKGROUP * ROWS;

// A bit an element: whether a segment begins there. An invocation reads two words of them.
const HEADS: u32 = (TILE + 31u) / 32u + 1u;

var<workgroup> staged_words: array<u32, TILE * RUN_WORDS + TILE * RUN_WORDS / 32u>;
var<workgroup> staged_heads: array<atomic<u32>, HEADS>;

// The words of an invocation's values.
struct Segmented {
  w: array<u32, OWN_WORDS>,
}

// A word is left out after every 32, to keep lanes off each other's banks.
fn staged(word: u32) -> u32 {
  return word + word / 32u;
}

// Where the words are staged that all invocations move, a row at a time.
fn staged_row(seat: u32, row: u32) -> u32 {
  if (WORKGROUP % 32u == 0u) { return staged(seat) + staged(row * WORKGROUP); }
  return staged(row * WORKGROUP + seat);
}

// Where the word `i` of an invocation's own is staged.
fn staged_own(seat: u32, i: u32) -> u32 {
  if (32u % OWN_WORDS == 0u || OWN_WORDS % 32u == 0u) { return staged(seat * OWN_WORDS) + staged(i); }
  return staged(seat * OWN_WORDS + i);
}

// How many elements the tile has.
fn tile_count(tile: u32, n: u32) -> u32 {
  return min(n - tile * TILE, TILE);
}

fn mark_head(place: u32) {
  atomicOr(&staged_heads[place / 32u], 1u << (place % 32u));
}

// Marks none. All invocations call it together.
fn clear_heads(seat: u32) {
  workgroupBarrier();
  for (var i = seat; i < HEADS; i += WORKGROUP) { atomicStore(&staged_heads[i], 0u); }
  workgroupBarrier();
}

// Asks for a tile's values, a row of neighbours at a time. Behind the last one come identities.
fn ask_tile(tile: u32, n: u32, seat: u32) -> Segmented {
  let first = tile * TILE;
  let words = tile_count(tile, n) * RUN_WORDS;
  var asked: Segmented;
  if (words == TILE * RUN_WORDS) {
    // unroll
    for (var k = 0u; k < OWN_WORDS; k++) {
      let word = k * WORKGROUP + seat;
      asked.w[k] = load_input_word(first + word / RUN_WORDS, word % RUN_WORDS);
    }
  } else {
    var none = element_to_words(identity());
    // unroll
    for (var k = 0u; k < OWN_WORDS; k++) {
      let word = k * WORKGROUP + seat;
      asked.w[k] = none.w[word % RUN_WORDS];
      if (word < words) { asked.w[k] = load_input_word(first + word / RUN_WORDS, word % RUN_WORDS); }
    }
  }
  return asked;
}

// Puts them where each invocation finds its own. All invocations call it together, when the heads are marked.
fn stage_tile(asked: Segmented, seat: u32) {
  // unroll
  for (var k = 0u; k < OWN_WORDS; k++) { staged_words[staged_row(seat, k)] = asked.w[k]; }
  workgroupBarrier();
}

// An invocation's own values of the tile that is staged.
fn own_words(seat: u32) -> Segmented {
  var own: Segmented;
  // unroll
  for (var i = 0u; i < OWN_WORDS; i++) { own.w[i] = staged_words[staged_own(seat, i)]; }
  return own;
}

// The same of a tile that is not.
fn far_words(tile: u32, n: u32, seat: u32) -> Segmented {
  let count = tile_count(tile, n);
  var none = element_to_words(identity());
  var far: Segmented;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    let place = seat * ROWS + k;
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) {
      far.w[k * RUN_WORDS + i] = none.w[i];
      if (place < count) { far.w[k * RUN_WORDS + i] = load_input_word(tile * TILE + place, i); }
    }
  }
  return far;
}

// Which of an invocation's elements begin segments, a bit each, by the heads that are marked.
fn own_heads(tile: u32, seat: u32) -> u32 {
  let word = seat * ROWS / 32u;
  let bit = seat * ROWS % 32u;
  let above = select(atomicLoad(&staged_heads[word + 1u]) << (32u - max(bit, 1u)), 0u, bit == 0u);
  // The first of all begins a segment, wherever the first one does.
  return (atomicLoad(&staged_heads[word]) >> bit) | above | select(0u, 1u, tile + seat == 0u);
}

fn is_head(heads: u32, k: u32) -> bool {
  return ((heads >> k) & 1u) == 1u;
}

// An invocation's element `k`. The first of a segment has what that starts from.
fn tile_element(own: Segmented, heads: u32, k: u32) -> T {
  var words: Words;
  // unroll
  for (var i = 0u; i < RUN_WORDS; i++) { words.w[i] = own.w[k * RUN_WORDS + i]; }
  words.w[RUN_WORDS] = (heads >> k) & 1u;
  if (STARTED != 0u && is_head(heads, k)) {
    words.w[RUN_WORDS] = 0u;
    words = element_to_words(combine(params.initial, element_from_words(words)));
    words.w[RUN_WORDS] = 1u;
  }
  return element_from_words(words);
}

// Whether a segment begins in what has this total: what lies before is no matter behind it.
fn tile_closes(total: T) -> bool {
  return element_to_words(total).w[RUN_WORDS] != 0u;
}

fn fold_tile(own: Segmented, heads: u32) -> T {
  var sum = identity();
  // unroll
  for (var k = 0u; k < ROWS; k++) { sum = combine(sum, tile_element(own, heads, k)); }
  return sum;
}

// Scans an invocation's elements from what lies before them, and puts the results where the elements were.
fn scan_tile(own: Segmented, heads: u32, seat: u32, before: T) {
  var running = before;
  // unroll
  for (var k = 0u; k < ROWS; k++) {
    var given = running;
    if (is_head(heads, k)) { given = params.initial; }
    running = combine(running, tile_element(own, heads, k));
    if (EXCLUSIVE == 0u) { given = running; }
    let words = element_to_words(given);
    // unroll
    for (var i = 0u; i < RUN_WORDS; i++) { staged_words[staged_own(seat, k * RUN_WORDS + i)] = words.w[i]; }
  }
  workgroupBarrier();
}
