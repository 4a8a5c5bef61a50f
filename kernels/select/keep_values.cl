// select/keep_values: a selection asks flags, and writes the values beside them.

typedef StoredValue StoredKept;

typedef struct {
  Value w[VALUE_WORDS];
} Held;

// The memory that what is kept is read from and written to.
typedef struct {
  InputValues input_values;
  __global StoredKept *output;
  __global StoredKept *output_rest;
} Keeping;

#define KEEPING {input_values, output, output_rest}

// What is held of an element until its place is known: its value, if that is to be written.
INLINED Held hold(const Keeping *keeping, Item item, u32 index, bool wanted) {
  Held held;
  if (wanted) {
#pragma unroll
    for (u32 word = 0u; word < VALUE_WORDS; word++) { held.w[word] = load_input_values_word(keeping->input_values, index, word); }
  }
  return held;
}

INLINED void store_kept(const Keeping *keeping, u32 place, const Held *held) {
#pragma unroll
  for (u32 word = 0u; word < VALUE_WORDS; word++) { keeping->output[(size_t)place * VALUE_WORDS + word] = held->w[word]; }
}

INLINED void store_rest(const Keeping *keeping, u32 place, const Held *held) {
#pragma unroll
  for (u32 word = 0u; word < VALUE_WORDS; word++) { keeping->output_rest[(size_t)place * VALUE_WORDS + word] = held->w[word]; }
}
