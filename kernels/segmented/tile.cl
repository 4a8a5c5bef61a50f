// segmented/tile: a tile of elements in segments, as a segmented scan takes them: each its value, and 1 where a segment begins. They move by
// way of workgroup memory, so that neighbours move neighbouring words. Each invocation has ROWS of them that lie together.

#define TILE (WORKGROUP * ROWS)

// A bit an element: whether a segment begins there. An invocation reads two words of them.
#define HEADS ((TILE + 31u) / 32u + 1u)

// A word is left out after every 32, to keep lanes off each other's banks.
#define STAGED(word) ((word) + (word) / 32u)

typedef struct {
  u32 words[STAGED(TILE * RUN_WORDS)];
  u32 heads[HEADS];
  // What a search for an offset has found, and the offsets at both ends of a batch.
  u32 found;
  u32 ends[2];
} Stage;

// The words of an invocation's values, and which of them begin segments: a bit each.
typedef struct {
  u32 w[OWN_WORDS];
  u32 heads;
} Segmented;

// How many elements the tile has.
u32 tile_count(u32 tile, u32 n) {
  return min(n - tile * TILE, (u32)TILE);
}

void mark_head(__local Stage *stage, u32 place) {
  atomic_or(&stage->heads[place / 32u], 1u << place % 32u);
}

// Asks for a tile's values, a row of neighbours at a time, and clears the heads, which are to be marked before the values are taken.
// All invocations call it together.
INLINED Segmented ask_tile(Input input, u32 tile, u32 n, u32 seat, __local Stage *stage) {
  const u32 last = tile_count(tile, n) - 1u;
  Segmented asked;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = tile * TILE + min(k * WORKGROUP + seat, last);
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { asked.w[k * RUN_WORDS + i] = load_input_word(input, index, i); }
  }
  asked.heads = 0u;
  workgroup_barrier();
  for (u32 i = seat; i < HEADS; i += WORKGROUP) { stage->heads[i] = 0u; }
  workgroup_barrier();
  return asked;
}

// An invocation's own of them.
INLINED Segmented take_tile(const Segmented *asked, u32 tile, u32 seat, __local Stage *stage) {
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) {
      stage->words[STAGED((k * WORKGROUP + seat) * RUN_WORDS + i)] = asked->w[k * RUN_WORDS + i];
    }
  }
  workgroup_barrier();
  Segmented taken;
#pragma unroll
  for (u32 i = 0u; i < OWN_WORDS; i++) { taken.w[i] = stage->words[STAGED(seat * OWN_WORDS + i)]; }
  const u32 word = seat * ROWS / 32u;
  const u32 bit = seat * ROWS % 32u;
  const u32 above = bit == 0u ? 0u : stage->heads[word + 1u] << (32u - bit);
  taken.heads = stage->heads[word] >> bit | above;
  // The first of all begins a segment, wherever the first one does.
  taken.heads |= tile + seat == 0u ? 1u : 0u;
  return taken;
}

bool is_head(const Segmented *taken, u32 k) {
  return (taken->heads >> k & 1u) == 1u;
}

// An invocation's element `k`, and the identity behind the last. The first of a segment has what that starts from.
INLINED T tile_element(const Segmented *taken, u32 tile, Params params, u32 seat, u32 k) {
  if (seat * ROWS + k >= tile_count(tile, params.n)) { return identity(); }
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = taken->w[k * RUN_WORDS + i]; }
  const T element = element_from_words(words);
  if (!is_head(taken, k)) { return element; }
  words = element_to_words(combine(params.initial, element));
  words.w[RUN_WORDS] = 1u;
  return element_from_words(words);
}

INLINED T fold_tile(const Segmented *taken, u32 tile, Params params, u32 seat) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, tile_element(taken, tile, params, seat, k)); }
  return sum;
}

// Scans an invocation's elements from what lies before them, and puts the results where the elements were.
INLINED void scan_tile(const Segmented *taken, u32 tile, Params params, u32 seat, T before, __local Stage *stage) {
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    T given = running;
    if (is_head(taken, k)) { given = params.initial; }
    running = combine(running, tile_element(taken, tile, params, seat, k));
    if (EXCLUSIVE == 0u) { given = running; }
    const Words words = element_to_words(given);
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { stage->words[STAGED((seat * ROWS + k) * RUN_WORDS + i)] = words.w[i]; }
  }
  workgroup_barrier();
}
