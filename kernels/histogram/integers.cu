// histogram/integers: counts and sums are integers.

FUNCTION u32 total_of(u32 a, u32 b) {
  return a + b;
}

FUNCTION void add_to_output(u32 *word, u32 amount) {
  atomicAdd(word, amount);
}
