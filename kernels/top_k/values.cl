// top_k/values: what goes beside a key: its value, of any size, or its index.

void give_value(InputValues input_values, __global StoredValue *target, u32 at, u32 index) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value value = value_of_place(index);
    // with SOURCE_VALUES
    value = load_input_values_word(input_values, index, word);
    target[(size_t)at * VALUE_WORDS + word] = value;
  }
}
