// histogram/ones: each element counts as one.

fn amount_of(index: u32) -> u32 {
  return 1u;
}
