// select/predicate: a selection keeps what the predicate holds for.

// Whether the element at an index is kept.
FUNCTION bool keeps(Input input, u32 index, Item item) { return keep(item_value(item)); }
