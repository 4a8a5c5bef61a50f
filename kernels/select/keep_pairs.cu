// select/keep_pairs: a selection asks keys, and writes them and the values beside them.

typedef StoredItem StoredKept;

struct Held {
  Item item;
  Value w[VALUE_WORDS];
};

// The memory that what is kept is read from and written to.
struct Keeping {
  InputValues input_values;
  StoredKept *output;
  StoredValue *output_values;
};

#define KEEPING {input_values, output, output_values}

// What is held of an element until its place is known: itself, and its value, if that is to be written.
FUNCTION Held hold(const Keeping &keeping, Item item, u32 index, bool wanted) {
  Held held;
  held.item = item;
  if (wanted) {
#pragma unroll
    for (u32 word = 0u; word < VALUE_WORDS; word++) { held.w[word] = load_input_values_word(keeping.input_values, index, word); }
  }
  return held;
}

FUNCTION void store_kept(const Keeping &keeping, u32 place, const Held &held) {
  keeping.output[place] = held.item;
#pragma unroll
  for (u32 word = 0u; word < VALUE_WORDS; word++) { keeping.output_values[(size_t)place * VALUE_WORDS + word] = held.w[word]; }
}

// Of pairs nothing but what is kept is written.
FUNCTION void store_rest(const Keeping &keeping, u32 place, const Held &held) {}
