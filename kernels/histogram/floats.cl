// histogram/floats: sums are floats, whose bits are words. OpenCL C 1.2 has no atomics of floats but NVIDIA's PTX does; elsewhere a word
// is replaced where it is still what it was.

INLINED u32 total_of(u32 a, u32 b) {
  return as_uint(as_float(a) + as_float(b));
}

INLINED void add_to_output(__global u32 *word, u32 amount) {
#ifdef __NV_CL_C_VERSION
  asm volatile("red.global.add.f32 [%0], %1;" : : "l"(word), "f"(as_float(amount)) : "memory");
#else
  for (u32 old = load_relaxed_u32(word); true;) {
    const u32 found = atomic_cmpxchg(word, old, total_of(old, amount));
    if (found == old) { break; }
    old = found;
  }
#endif
}
