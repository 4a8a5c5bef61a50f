// block/run_load: ROWS elements that lie together, as a segmented scan takes them: each its value, and 1 where its key begins a run. They
// come by way of workgroup memory, so that neighbours load neighbouring words.

#define TILE (WORKGROUP * ROWS)
#define TILE_KEYS ((TILE + 1u) * KEY_WORDS)

// A word is left out after every 32, to keep lanes off each other's banks.
#define STAGE(words) ((words) + ((words) - 1u) / 32u)

__shared__ u32 staged_keys[STAGE(TILE_KEYS)];
__shared__ u32 staged_words[STAGE(TILE * RUN_WORDS)];

struct RunKey {
  u32 w[KEY_WORDS];
};

struct Runs {
  RunKey keys[ROWS];
  T elements[ROWS];
};

// Where a word is staged.
FUNCTION u32 staged_at(u32 word) {
  return word + word / 32u;
}

// A tile's keys behind the one before it, if there is one, and its values. Behind the last element come copies of that.
FUNCTION void load_tile(const u32 *input, const u32 *input_values, u32 first, u32 n, u32 seat) {
  const u32 count = min(n - first, TILE);
  if (seat < KEY_WORDS) { staged_keys[staged_at(seat)] = input[(size_t)(max(first, 1u) - 1u) * KEY_WORDS + seat]; }
  const u32 *keys = input + (size_t)first * KEY_WORDS;
#pragma unroll
  for (u32 j = 0u; j < ROWS * KEY_WORDS; j++) {
    const u32 word = j * WORKGROUP + seat;
    staged_keys[staged_at(KEY_WORDS + word)] = keys[min(word, count * KEY_WORDS - 1u)];
  }
#pragma unroll
  for (u32 j = 0u; j < ROWS * RUN_WORDS; j++) {
    const u32 word = j * WORKGROUP + seat;
    const u32 last = count * RUN_WORDS - 1u;
    if (TILE_VALUES) { staged_words[staged_at(word)] = load_run_word(input_values, (size_t)first * RUN_WORDS + min(word, last)); }
  }
  workgroup_barrier();
}

// The key before a tile's first one has the number 0.
FUNCTION RunKey load_key(u32 number) {
  RunKey key;
#pragma unroll
  for (u32 i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_keys[staged_at(number * KEY_WORDS + i)]; }
  return key;
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
// Each key is compared with the one before in registers. Behind the last element come identities.
FUNCTION Runs load_runs(const u32 *input, const u32 *input_values, u32 tile, u32 n, u32 seat) {
  load_tile(input, input_values, tile * TILE, n, seat);
  const u32 first = tile * TILE + seat * ROWS;
  Runs runs;
  RunKey before = load_key(seat * ROWS);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const RunKey key = load_key(seat * ROWS + k + 1u);
    u32 difference = first + k == 0u ? 1u : 0u;
#pragma unroll
    for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    Words words = {{0}};
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) {
      words.w[i] = TILE_VALUES ? staged_words[staged_at((seat * ROWS + k) * RUN_WORDS + i)] : load_run_word(input_values, 0u);
    }
    words.w[RUN_WORDS] = difference != 0u ? 1u : 0u;
    runs.keys[k] = key;
    runs.elements[k] = element_from_words(words);
    if (first + k >= n) { runs.elements[k] = identity(); }
    before = key;
  }
  return runs;
}

FUNCTION T fold_runs(const Runs &runs) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, runs.elements[k]); }
  return sum;
}
