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
  // What a search for an offset has found.
  u32 found;
} Stage;

// The words of an invocation's values.
typedef struct {
  u32 w[OWN_WORDS];
} Segmented;

// Where the words are staged that all invocations move, a row at a time.
u32 staged_row(u32 seat, u32 row) {
  return WORKGROUP % 32u == 0u ? STAGED(seat) + STAGED(row * WORKGROUP) : STAGED(row * WORKGROUP + seat);
}

// Where the word `i` of an invocation's own is staged.
u32 staged_own(u32 seat, u32 i) {
  return 32u % OWN_WORDS == 0u || OWN_WORDS % 32u == 0u ? STAGED(seat * OWN_WORDS) + STAGED(i) : STAGED(seat * OWN_WORDS + i);
}

// How many elements the tile has.
u32 tile_count(u32 tile, u32 n) {
  return min(n - tile * TILE, (u32)TILE);
}

void mark_head(__local Stage *stage, u32 place) {
  atomic_or(&stage->heads[place / 32u], 1u << place % 32u);
}

// Marks none. All invocations call it together.
void clear_heads(u32 seat, __local Stage *stage) {
  workgroup_barrier();
  for (u32 i = seat; i < HEADS; i += WORKGROUP) { stage->heads[i] = 0u; }
  workgroup_barrier();
}

// Asks for a tile's values, a row of neighbours at a time. Behind the last one come identities.
INLINED Segmented ask_tile(Input input, u32 tile, u32 n, u32 seat) {
  // Wide, so that addresses are one base and numbers that compilers know.
  const size_t first = tile * TILE;
  const u32 words = tile_count(tile, n) * RUN_WORDS;
  Segmented asked;
  if (words == TILE * RUN_WORDS) {
#pragma unroll
    for (u32 k = 0u; k < OWN_WORDS; k++) {
      const size_t word = (size_t)seat + k * WORKGROUP;
      asked.w[k] = load_input_word(input, first + word / RUN_WORDS, word % RUN_WORDS);
    }
  } else {
    const Words none = element_to_words(identity());
#pragma unroll
    for (u32 k = 0u; k < OWN_WORDS; k++) {
      const size_t word = (size_t)seat + k * WORKGROUP;
      asked.w[k] = none.w[word % RUN_WORDS];
      if (word < words) { asked.w[k] = load_input_word(input, first + word / RUN_WORDS, word % RUN_WORDS); }
    }
  }
  return asked;
}

// Puts them where each invocation finds its own. All invocations call it together, when the heads are marked.
INLINED void stage_tile(const Segmented *asked, u32 seat, __local Stage *stage) {
#pragma unroll
  for (u32 k = 0u; k < OWN_WORDS; k++) { stage->words[staged_row(seat, k)] = asked->w[k]; }
  workgroup_barrier();
}

// An invocation's own values of the tile that is staged.
INLINED Segmented own_words(u32 seat, __local const Stage *stage) {
  Segmented own;
#pragma unroll
  for (u32 i = 0u; i < OWN_WORDS; i++) { own.w[i] = stage->words[staged_own(seat, i)]; }
  return own;
}

// The same of a tile that is not.
INLINED Segmented far_words(Input input, u32 tile, u32 n, u32 seat) {
  const u32 count = tile_count(tile, n);
  const Words none = element_to_words(identity());
  Segmented far;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 place = seat * ROWS + k;
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) {
      far.w[k * RUN_WORDS + i] = none.w[i];
      if (place < count) { far.w[k * RUN_WORDS + i] = load_input_word(input, tile * TILE + place, i); }
    }
  }
  return far;
}

// Which of an invocation's elements begin segments, a bit each, by the heads that are marked.
u32 own_heads(u32 tile, u32 seat, __local const Stage *stage) {
  const u32 word = seat * ROWS / 32u;
  const u32 bit = seat * ROWS % 32u;
  const u32 above = bit == 0u ? 0u : stage->heads[word + 1u] << (32u - bit);
  // The first of all begins a segment, wherever the first one does.
  return stage->heads[word] >> bit | above | (tile + seat == 0u ? 1u : 0u);
}

bool is_head(u32 heads, u32 k) {
  return (heads >> k & 1u) == 1u;
}

// An invocation's element `k`. The first of a segment has what that starts from.
INLINED T tile_element(const Segmented *own, u32 heads, Params params, u32 k) {
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = own->w[k * RUN_WORDS + i]; }
  words.w[RUN_WORDS] = heads >> k & 1u;
  if (STARTED != 0u && is_head(heads, k)) {
    words.w[RUN_WORDS] = 0u;
    words = element_to_words(combine(params.initial, element_from_words(words)));
    words.w[RUN_WORDS] = 1u;
  }
  return element_from_words(words);
}

// Whether a segment begins in what has this total: what lies before is no matter behind it.
bool tile_closes(T total) {
  return element_to_words(total).w[RUN_WORDS] != 0u;
}

INLINED T fold_tile(const Segmented *own, u32 heads, Params params) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, tile_element(own, heads, params, k)); }
  return sum;
}

// Scans an invocation's elements from what lies before them, and puts the results where the elements were.
INLINED void scan_tile(const Segmented *own, u32 heads, Params params, u32 seat, T before, __local Stage *stage) {
  T running = before;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    T given = running;
    if (is_head(heads, k)) { given = params.initial; }
    running = combine(running, tile_element(own, heads, params, k));
    if (EXCLUSIVE == 0u) { given = running; }
    const Words words = element_to_words(given);
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { stage->words[staged_own(seat, k * RUN_WORDS + i)] = words.w[i]; }
  }
  workgroup_barrier();
}
