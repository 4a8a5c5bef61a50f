// block/values_none: a sort of keys alone.

fn load_values(source: u32, first: u32, width: u32, word: u32, moved: ptr<function, array<u32, ITEMS>>) {
}

fn move_values(
  source: u32,
  destination: u32,
  first: u32,
  width: u32,
  thread: u32,
  valid: u32,
  moved: ptr<function, array<u32, ITEMS>>,
  positions: ptr<function, array<u32, ITEMS>>,
  targets: ptr<function, array<u32, ITEMS>>,
) {
}
