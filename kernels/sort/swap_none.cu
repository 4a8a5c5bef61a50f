// sort/swap_none: a sort of keys alone.

FUNCTION void move_value(const u32 *source, u32 *target, u32 from_index, u32 to_index) {
}
