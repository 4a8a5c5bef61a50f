// histogram/shared_floats: a sum in workgroup memory is of floats, whose bits are words.

FUNCTION void add_to_shared(u32 *word, u32 amount) {
  atomicAdd(reinterpret_cast<float *>(word), __uint_as_float(amount));
}
