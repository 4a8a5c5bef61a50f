// histogram/weights: each element counts as what stands beside it, whose bits are a word.

#define amount_of(input_values, index) load_input_values_word(input_values, index, 0u)
