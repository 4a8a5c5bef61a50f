// reduce_by_key/run_load: ROWS elements that lie together, as a segmented scan takes them: each its value, and 1 where its key begins a run. Each
// invocation loads its own.

#define TILE (WORKGROUP * ROWS)

// Nothing is held in workgroup memory.
typedef u32 RunStage;

typedef struct {
  u32 w[KEY_WORDS];
} RunKey;

typedef struct {
  RunKey keys[ROWS];
  T elements[ROWS];
} Runs;

RunKey load_key(Input input, u32 index) {
  RunKey key;
#pragma unroll
  for (u32 i = 0u; i < KEY_WORDS; i++) { key.w[i] = load_input_word(input, index, i); }
  return key;
}

// An invocation's elements of a tile. All call it together, each with its seat in the workgroup.
// Each key is compared with the one before in registers; the one before the first is loaded for that alone. Behind the last
// element come identities.
Runs load_runs(
  Input input, InputValues input_values, u32 tile, u32 n, u32 seat, __local RunStage *stage
) {
  const u32 first = tile * TILE + seat * ROWS;
  const u32 last = n - 1u;
  Runs runs;
  RunKey before = load_key(input, min(max(first, 1u) - 1u, last));
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 index = min(first + k, last);
    const RunKey key = load_key(input, index);
    u32 difference = first + k == 0u ? 1u : 0u;
#pragma unroll
    for (u32 i = 0u; i < KEY_WORDS; i++) { difference |= key.w[i] ^ before.w[i]; }
    Words words = {{0}};
#pragma unroll
    for (u32 i = 0u; i < RUN_WORDS; i++) { words.w[i] = load_run_word(input_values, index, i); }
    words.w[RUN_WORDS] = difference != 0u ? 1u : 0u;
    runs.keys[k] = key;
    runs.elements[k] = element_from_words(words);
    if (first + k > last) { runs.elements[k] = identity(); }
    before = key;
  }
  return runs;
}

T fold_runs(const Runs *runs) {
  T sum = identity();
#pragma unroll
  for (u32 k = 0u; k < ROWS; k++) { sum = combine(sum, runs->elements[k]); }
  return sum;
}
