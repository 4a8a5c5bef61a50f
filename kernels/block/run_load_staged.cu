// block/run_load_staged: block/run_load by way of workgroup memory, so that neighbours load neighbouring words. A tile's elements stay there
// and are read when they are needed, so that few registers are held while a tile looks back.

#define TILE (WORKGROUP * ROWS)
#define TILE_KEYS ((TILE + 1u) * KEY_WORDS)

// A word is left out after every 32, to keep lanes off each other's banks.
#define TILE_STAGED(words) ((words) + ((words) - 1u) / 32u)

__shared__ u32 staged_keys[TILE_STAGED(TILE_KEYS)];
__shared__ u32 staged_words[TILE_STAGED(TILE * RUN_WORDS)];
__shared__ u32 staged_tile;

struct RunKey {
  u32 w[KEY_WORDS];
};

// Where an invocation's elements are.
struct Runs {
  const u32 *input;
  const u32 *input_values;
  u32 tile;
  u32 n;
  u32 seat;
};

// Where a word is staged.
FUNCTION u32 staged_at(u32 word) {
  return word + word / 32u;
}

// A tile's keys behind the one before it, if there is one, and its values. Behind the last element come copies of that.
FUNCTION void load_tile(const Runs &runs) {
  const u32 first = runs.tile * TILE;
  const u32 last = min(runs.n - first, TILE) - 1u;
  if (runs.seat == 0u) { staged_tile = runs.tile; }
  if (runs.seat < KEY_WORDS) {
    staged_keys[staged_at(runs.seat)] = runs.input[(size_t)(max(first, 1u) - 1u) * KEY_WORDS + runs.seat];
  }
  const u32 *keys = runs.input + (size_t)first * KEY_WORDS;
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
#pragma unroll
    for (u32 i = 0u; i < KEY_WORDS; i++) {
      const u32 word = (k * KEY_WORDS + i) * WORKGROUP + runs.seat;
      staged_keys[staged_at(KEY_WORDS + word)] = keys[min(word, last * KEY_WORDS + KEY_WORDS - 1u)];
    }
  }
  if (TILE_VALUES != 0u) {
#pragma unroll
    for (u32 k = 0u; k < ROWS; k++) {
#pragma unroll
      for (u32 i = 0u; i < RUN_WORDS; i++) {
        const u32 word = (k * RUN_WORDS + i) * WORKGROUP + runs.seat;
        staged_words[staged_at(word)] = load_run_word(runs.input_values, first + min(word / RUN_WORDS, last), word % RUN_WORDS);
      }
    }
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

// An invocation's element `k`, and the identity behind the last. Its key is compared with the one before in registers.
FUNCTION T load_element(const Runs &runs, u32 k, RunKey key, RunKey before) {
  const u32 place = runs.seat * ROWS + k;
  u32 difference = runs.tile * TILE + place == 0u ? 1u : 0u;
#pragma unroll
  for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) {
    words.w[i] = TILE_VALUES != 0u ? staged_words[staged_at(place * RUN_WORDS + i)] : load_run_word(runs.input_values, 0u, i);
  }
  words.w[RUN_WORDS] = difference != 0u ? 1u : 0u;
  return runs.tile * TILE + place < runs.n ? element_from_words(words) : identity();
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
FUNCTION Runs load_runs(const u32 *input, const u32 *input_values, u32 tile, u32 n, u32 seat) {
  const Runs runs = {input, input_values, tile, n, seat};
  load_tile(runs);
  return runs;
}

FUNCTION T fold_runs(const Runs &runs) {
  T sum = identity();
  RunKey before = load_key(runs.seat * ROWS);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const RunKey key = load_key(runs.seat * ROWS + k + 1u);
    sum = combine(sum, load_element(runs, k, key, before));
    before = key;
  }
  return sum;
}
