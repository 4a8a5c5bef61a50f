// sort/swap_none: a sort of keys alone.

fn move_value(from_temp: bool, from_index: u32, to_index: u32) {
}
