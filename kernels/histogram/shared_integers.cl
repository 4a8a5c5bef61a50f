// histogram/shared_integers: a sum in workgroup memory is of integers.

INLINED void add_to_shared(__local u32 *word, u32 amount) {
  atomic_add(word, amount);
}
