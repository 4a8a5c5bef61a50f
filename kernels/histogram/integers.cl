// histogram/integers: counts and sums are integers.

INLINED u32 total_of(u32 a, u32 b) {
  return a + b;
}

INLINED void add_to_output(__global u32 *word, u32 amount) {
  atomic_add(word, amount);
}
