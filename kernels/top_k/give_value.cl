// top_k/give_value: what goes beside a key: its value, of any size, or its place in its segment. Where there is no key, values are zeros
// and a place is the greatest word.

void give_value(InputValues input_values, __global StoredValue *target, u32 n, u32 at, u32 index, u32 begin) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value value = value_of_place(index < n ? index - begin : NO_VALUE);
    // with SOURCE_VALUES
    if (index < n) { value = load_input_values_word(input_values, index, word); }
    target[(size_t)at * VALUE_WORDS + word] = value;
  }
}
