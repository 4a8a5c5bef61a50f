// sort/split_values: values of any number of words move as their keys move. They are the keys' places if none are given.

FUNCTION void move_value(const StoredValue *source, StoredValue *target, u32 from_index, u32 to_index) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    u32 value = from_index;
    // with SOURCE_VALUES
    value = source[(size_t)from_index * VALUE_WORDS + word];
    target[(size_t)to_index * VALUE_WORDS + word] = value;
  }
}
