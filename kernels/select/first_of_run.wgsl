// select/first_of_run: a selection keeps what differs from the element before it.

// Whether the element at an index is kept.
fn keeps(index: u32, item: Item) -> bool {
  let before = load_input(params.input_offset + max(index, 1u) - 1u);
  return index == 0u || !same_item(before, item);
}
