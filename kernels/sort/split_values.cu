// sort/split_values: values of any size move as their keys move. If none are given, they are places.

FUNCTION void move_value(SourceValues source, StoredValue *target, u32 from_index, u32 to_index, u32 place) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    Value value = value_of_place(place);
    // with SOURCE_VALUES
    value = load_source_values_word(source, from_index, word);
    target[(size_t)to_index * VALUE_WORDS + word] = value;
  }
}
