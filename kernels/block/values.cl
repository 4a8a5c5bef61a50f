// block/values: values of any number of words move as their keys moved, one word at a time through workgroup memory.

// `positions` are where this invocation's keys went in the tile, `targets` where the tile's keys at its turns go.
void move_values(
  __global const u32 *source, __global u32 *destination, u32 first, Subgroup sg, u32 thread, u32 n, u32 valid,
  __local u32 *exchange, const u32 *positions, const u32 *targets
) {
  for (u32 word = 0u; word < VALUE_WORDS; word++) {
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 index = first + k * sg.width;
      if (index < n) { exchange[positions[k]] = source[(size_t)index * VALUE_WORDS + word]; }
    }
    workgroup_barrier();
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      const u32 at = k * WORKGROUP + thread;
      if (at < valid) { destination[(size_t)targets[k] * VALUE_WORDS + word] = exchange[at]; }
    }
  }
}
