// select/keep_values: a selection asks flags, and writes the values beside them.

typedef StoredValue StoredKept;

struct Held {
  Value w[VALUE_WORDS];
};

// The memory that what is kept is read from and written to.
struct Keeping {
  InputValues input_values;
  StoredKept *output;
  StoredKept *output_rest;
};

#define KEEPING {input_values, output, output_rest}

// What is held of an element until its place is known: its value, if that is to be written.
FUNCTION Held hold(const Keeping &keeping, Item item, u32 index, bool wanted) {
  Held held;
  if (wanted) {
#pragma unroll
    for (u32 word = 0u; word < VALUE_WORDS; word++) { held.w[word] = load_input_values_word(keeping.input_values, index, word); }
  }
  return held;
}

FUNCTION void store_kept(const Keeping &keeping, u32 place, const Held &held) {
#pragma unroll
  for (u32 word = 0u; word < VALUE_WORDS; word++) { keeping.output[(size_t)place * VALUE_WORDS + word] = held.w[word]; }
}

FUNCTION void store_rest(const Keeping &keeping, u32 place, const Held &held) {
#pragma unroll
  for (u32 word = 0u; word < VALUE_WORDS; word++) { keeping.output_rest[(size_t)place * VALUE_WORDS + word] = held.w[word]; }
}
