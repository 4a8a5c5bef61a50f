// histogram/floats: sums are floats, whose bits are words.

FUNCTION u32 total_of(u32 a, u32 b) {
  return __float_as_uint(__uint_as_float(a) + __uint_as_float(b));
}

FUNCTION void add_to_output(u32 *word, u32 amount) {
  atomicAdd(reinterpret_cast<float *>(word), __uint_as_float(amount));
}
