// sort/values_none: a sort of keys alone. Only in OpenCL C and CUDA C, which bring a whole tile in order. Through Vulkan
// parts of a tile are faster, so WGSL has sort/scatter_none.

void load_values(__global const u32 *source, u32 first, Subgroup sg, u32 n, u32 word, u32 *moved) {
}

void move_values(
  __global const u32 *source, __global u32 *destination, u32 first, Subgroup sg, u32 thread, u32 n, u32 valid, __local u32 *exchange,
  u32 *moved, const u32 *positions, const u32 *targets
) {
}
