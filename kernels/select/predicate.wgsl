// select/predicate: a selection keeps what the predicate holds for.

// Whether the element at an index is kept.
fn keeps(index: u32, item: Item) -> bool { return keep(item_value(item)); }
