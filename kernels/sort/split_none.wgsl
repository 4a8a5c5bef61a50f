// sort/split_none: a sort of keys alone.

fn move_value(from_index: u32, to_index: u32) {
}
