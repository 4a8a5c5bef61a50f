// histogram/shared_floats: a sum in workgroup memory is of floats, whose bits are words.

INLINED void add_to_shared(__local u32 *word, u32 amount) {
#ifdef __NV_CL_C_VERSION
  asm volatile("red.shared.add.f32 [%0], %1;" : : "l"((u64)(size_t)word), "f"(as_float(amount)) : "memory");
#else
  for (u32 old = *(volatile __local u32 *)word; true;) {
    const u32 found = atomic_cmpxchg(word, old, total_of(old, amount));
    if (found == old) { break; }
    old = found;
  }
#endif
}
