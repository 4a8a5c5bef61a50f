// merge_sort/move_value: a value of any size from one buffer to the other, as its key moves.

FUNCTION void move_value(const StoredValue *source, StoredValue *target, u32 from_index, u32 to_index) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    target[(size_t)to_index * VALUE_WORDS + word] = source[(size_t)from_index * VALUE_WORDS + word];
  }
}
