// histogram/shared_integers: a sum in workgroup memory is of integers.

FUNCTION void add_to_shared(u32 *word, u32 amount) {
  atomicAdd(word, amount);
}
