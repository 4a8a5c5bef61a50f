// select/first_of_run: a selection keeps what differs from the element before it.

// Whether the element at an index is kept.
FUNCTION bool keeps(Input input, u32 index, Item item) {
  const Item before = load_input(input, max(index, 1u) - 1u);
  return index == 0u || !same_item(before, item);
}
