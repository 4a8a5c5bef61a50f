// reduce_by_key/run_load_staged: reduce_by_key/run_load by way of workgroup memory, so that neighbours load neighbouring words. A tile's elements stay there
// and are read when they are needed, so that few registers are held while a tile looks back.

#define TILE (WORKGROUP * ROWS)

// A word is left out after every 32, to keep lanes off each other's banks.
#define STAGED(words) ((words) + (words) / 32u)

__shared__ u32 staged_keys[STAGED(WORKGROUP * OWN_KEYS)];
__shared__ u32 staged_words[STAGED(WORKGROUP * OWN_WORDS)];
__shared__ u32 staged_before[KEY_WORDS];
__shared__ u32 staged_tile;

struct RunKey {
  u32 w[KEY_WORDS];
};

// Where an invocation's elements are, and which of them begin runs: a bit each.
struct Runs {
  Input input;
  InputValues input_values;
  u32 tile;
  u32 n;
  u32 seat;
  u32 heads;
};

// Where the words are staged that all invocations load, a row at a time.
FUNCTION u32 staged_row(u32 seat, u32 row) {
  return WORKGROUP % 32u == 0u ? STAGED(seat) + STAGED(row * WORKGROUP) : STAGED(row * WORKGROUP + seat);
}

// Where the word `i` is staged of the `own` words that each invocation has: the same for all, but for where its own begin, if that can be.
FUNCTION u32 staged_own(u32 seat, u32 own, u32 i) {
  return 32u % own == 0u || own % 32u == 0u ? STAGED(seat * own) + STAGED(i) : STAGED(seat * own + i);
}

// A tile's keys, and its values. Behind the last element come copies of its key, and identities.
FUNCTION void load_tile(const Runs &runs) {
  const u32 first = runs.tile * TILE;
  const u32 count = min(runs.n - first, TILE);
  if (runs.seat == 0u) { staged_tile = runs.tile; }
  for (u32 i = runs.seat; i < KEY_WORDS; i += WORKGROUP) {
    staged_before[i] = runs.input[(size_t)(max(first, 1u) - 1u) * KEY_WORDS + i];
  }
  const StoredRun *tile_keys = runs.input + (size_t)first * KEY_WORDS;
  if (count == TILE) {
    const StoredRun *keys = tile_keys + runs.seat;
#pragma unroll
    for (u32 row = 0u; row < OWN_KEYS; row++) { staged_keys[staged_row(runs.seat, row)] = keys[row * WORKGROUP]; }
    if (TILE_VALUES != 0u) {
      const u32 *values = runs.input_values + runs.seat;
#pragma unroll
      for (u32 row = 0u; row < OWN_WORDS; row++) {
        staged_words[staged_row(runs.seat, row)] = load_run_word(values, first, row * WORKGROUP);
      }
    }
  } else {
#pragma unroll 1
    for (u32 row = 0u; row < OWN_KEYS; row++) {
      const u32 word = row * WORKGROUP + runs.seat;
      staged_keys[staged_row(runs.seat, row)] =
        tile_keys[word < count * KEY_WORDS ? word : (count - 1u) * KEY_WORDS + word % KEY_WORDS];
    }
    const Words none = element_to_words(identity());
#pragma unroll 1
    for (u32 row = 0u; row < (TILE_VALUES != 0u ? OWN_WORDS : 0u); row++) {
      const u32 word = row * WORKGROUP + runs.seat;
      staged_words[staged_row(runs.seat, row)] =
        word < count * RUN_WORDS ? load_run_word(runs.input_values, first, word) : none.w[word % RUN_WORDS];
    }
  }
  workgroup_barrier();
}

// An invocation's key `k`, and the one before its first.
FUNCTION RunKey load_key(u32 seat, u32 k) {
  RunKey key;
#pragma unroll
  for (u32 i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_keys[staged_own(seat, OWN_KEYS, k * KEY_WORDS + i)]; }
  return key;
}

FUNCTION RunKey load_key_before(u32 seat) {
  RunKey key;
  if (seat != 0u) { return load_key(seat - 1u, ROWS - 1u); }
#pragma unroll
  for (u32 i = 0u; i < KEY_WORDS; i++) { key.w[i] = staged_before[i]; }
  return key;
}

// An invocation's element `k`, and the identity behind the last.
FUNCTION T load_element(const Runs &runs, u32 k) {
  Words words = {{0}};
#pragma unroll
  for (u32 i = 0u; i < RUN_WORDS; i++) {
    words.w[i] = TILE_VALUES != 0u ? staged_words[staged_own(runs.seat, OWN_WORDS, k * RUN_WORDS + i)]
                                   : load_run_word(runs.input_values, 0u, i);
  }
  words.w[RUN_WORDS] = (runs.heads >> k) & 1u;
  const bool is_there = TILE_VALUES != 0u || runs.tile * TILE + runs.seat * ROWS + k < runs.n;
  return is_there ? element_from_words(words) : identity();
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup, and not again before another barrier.
// Each key is compared with the one before; the first of all begins a run.
FUNCTION Runs load_runs(Input input, InputValues input_values, u32 tile, u32 n, u32 seat) {
  Runs runs = {input, input_values, tile, n, seat, tile + seat == 0u ? 1u : 0u};
  load_tile(runs);
  RunKey before = load_key_before(seat);
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const RunKey key = load_key(seat, k);
    u32 difference = 0u;
#pragma unroll
    for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    runs.heads |= difference != 0u ? 1u << k : 0u;
    before = key;
  }
  return runs;
}

FUNCTION T fold_runs(const Runs &runs) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, load_element(runs, k)); }
  return sum;
}
