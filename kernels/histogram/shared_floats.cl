// histogram/shared_floats: a sum in workgroup memory is of floats, whose bits are words.

INLINED void add_to_shared(__local u32 *word, u32 amount) {
  for (u32 old = *(volatile __local u32 *)word; true;) {
    const u32 found = atomic_cmpxchg(word, old, total_of(old, amount));
    if (found == old) { break; }
    old = found;
  }
}
