// sort/split_none: a sort of keys alone.

void move_value(__global const u32 *source, __global u32 *target, u32 from_index, u32 to_index) {
}
