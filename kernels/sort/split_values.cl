// sort/split_values: values of any size move as their keys move. They are the keys' places if none are given.

void move_value(SourceValues source, __global StoredValue *target, u32 from_index, u32 to_index) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value value = value_of_place(from_index);
    // with SOURCE_VALUES
    value = load_source_values_word(source, from_index, word);
    target[(size_t)to_index * VALUE_WORDS + word] = value;
  }
}
