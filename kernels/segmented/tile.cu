// segmented/tile: a tile of elements in segments, as a segmented scan takes them: each its value, and 1 where a segment begins. They move by
// way of workgroup memory, so that neighbours move neighbouring words. Each invocation has ROWS of them that lie together.

#define TILE (WORKGROUP * ROWS)

// A bit an element: whether a segment begins there. An invocation reads two words of them.
#define HEADS ((TILE + 31u) / 32u + 1u)

// A word is left out after every 32, to keep lanes off each other's banks.
#define STAGED(word) ((word) + (word) / 32u)

__shared__ u32 staged_words[STAGED(TILE * RUN_WORDS)];
__shared__ u32 staged_heads[HEADS];

// The words of an invocation's values, and which of them begin segments: a bit each.
struct Segmented {
  u32 w[OWN_WORDS];
  u32 heads;
};

// How many elements the tile has.
FUNCTION u32 tile_count(u32 tile, u32 n) {
  return min(n - tile * TILE, (u32)TILE);
}

FUNCTION void mark_head(u32 place) {
  atomicOr(&staged_heads[place / 32u], 1u << place % 32u);
}

// Asks for a tile's values, a row of neighbours at a time, and clears the heads, which are to be marked before the values are taken.
// All invocations call it together.
FUNCTION Segmented ask_tile(Input input, u32 tile, u32 n, u32 seat) {
  const u32 last = tile_count(tile, n) - 1u;
  Segmented asked;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = tile * TILE + min(k * WORKGROUP + seat, last);
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { asked.w[k * RUN_WORDS + i] = load_input_word(input, index, i); }
  }
  workgroup_barrier();
  for (u32 i = seat; i < HEADS; i += WORKGROUP) { staged_heads[i] = 0u; }
  workgroup_barrier();
  return asked;
}

// An invocation's own of them.
FUNCTION Segmented take_tile(const Segmented &asked, u32 tile, u32 seat) {
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) {
      staged_words[STAGED((k * WORKGROUP + seat) * RUN_WORDS + i)] = asked.w[k * RUN_WORDS + i];
    }
  }
  workgroup_barrier();
  Segmented taken;
#pragma unroll
  for (u32 i = 0u; i < OWN_WORDS; i++) { taken.w[i] = staged_words[STAGED(seat * OWN_WORDS + i)]; }
  const u32 word = seat * ROWS / 32u;
  const u32 bit = seat * ROWS % 32u;
  const u32 above = bit == 0u ? 0u : staged_heads[word + 1u] << (32u - bit);
  taken.heads = staged_heads[word] >> bit | above;
  // The first of all begins a segment, wherever the first one does.
  taken.heads |= tile + seat == 0u ? 1u : 0u;
  return taken;
}

FUNCTION bool is_head(const Segmented &taken, u32 k) {
  return (taken.heads >> k & 1u) == 1u;
}

// An invocation's element `k`, and the identity behind the last. The first of a segment has what that starts from.
FUNCTION T tile_element(const Segmented &taken, u32 tile, const Params &params, u32 seat, u32 k) {
  if (seat * ROWS + k >= tile_count(tile, params.n)) { return identity(); }
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = taken.w[k * RUN_WORDS + i]; }
  const T element = element_from_words(words);
  if (!is_head(taken, k)) { return element; }
  words = element_to_words(combine(params.initial, element));
  words.w[RUN_WORDS] = 1u;
  return element_from_words(words);
}

FUNCTION T fold_tile(const Segmented &taken, u32 tile, const Params &params, u32 seat) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, tile_element(taken, tile, params, seat, k)); }
  return sum;
}

// Scans an invocation's elements from what lies before them, and puts the results where the elements were.
FUNCTION void scan_tile(const Segmented &taken, u32 tile, const Params &params, u32 seat, T before) {
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    T given = running;
    if (is_head(taken, k)) { given = params.initial; }
    running = combine(running, tile_element(taken, tile, params, seat, k));
    if (EXCLUSIVE == 0u) { given = running; }
    const Words words = element_to_words(given);
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { staged_words[STAGED((seat * ROWS + k) * RUN_WORDS + i)] = words.w[i]; }
  }
  workgroup_barrier();
}
