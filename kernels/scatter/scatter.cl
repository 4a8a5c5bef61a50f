// scatter/scatter: values to the places that indices say. Reads each value and each index once, and writes each value once, unless its
// place is past the end.

KERNEL void scatter(ARGUMENTS) {
  const u32 tile = get_group_id(0);
  const u32 thread = get_local_id(0);
  input += params.input_offset;
  input_values += params.input_values_offset;
  output += params.output_offset;
  // 1. Each invocation takes ROWS values, and neighbours take neighbouring ones.
  for (u32 k = 0u; k < ROWS; k++) {
    const u32 at = (tile * ROWS + k) * WORKGROUP + thread;
    if (at < params.n) {
      // 2. Write the value to its place.
      const u32 place = load_input_values_word(input_values, at, 0u);
      if (place < params.room) {
        for (u32 word = 0u; word < VALUE_WORDS; word++) {
          output[(size_t)place * VALUE_WORDS + word] = load_input_word(input, at, word);
        }
      }
    }
  }
}
