// sort/values: values of any size move as their keys moved, a word or a vector at a time through workgroup memory. OpenCL
// C and CUDA C alone: they bring a whole tile in order. Through Vulkan parts of a tile are faster, so WGSL has
// sort/scatter_values.

// A part of this invocation's values, which are the keys' places if none are given. The first parts are loaded before there is a use for them: they come while others wait.
void load_values(Values source, u32 first, Subgroup sg, u32 n, u32 word, bool given, Value *moved) {
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 index = first + k * sg.width;
    moved[k] = value_of_place(0u);
    if (index < n) { moved[k] = given ? load_value(source, index, word) : value_of_place(index); }
  }
}

// `positions` are where this invocation's keys went in the tile, `targets` where the tile's keys at its turns go.
void move_values(
  Values source, __global StoredValue *destination, u32 first, Subgroup sg, u32 thread, u32 n, u32 valid, __local u32 *exchange,
  Value *moved, const u32 *positions, const u32 *targets
) {
  __local Value *sorted = (__local Value *)exchange;
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    if (word > 0u) { load_values(source, first, sg, n, word, true, moved); }
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { sorted[positions[k]] = moved[k]; }
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < valid) { destination[(size_t)targets[k] * VALUE_WORDS + word] = sorted[at]; }
    }
  }
}
