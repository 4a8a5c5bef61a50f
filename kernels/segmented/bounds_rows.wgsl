// segmented/bounds_rows: the boundaries of rows, which all have one width.

fn boundaries() -> u32 {
  return (params.n - 1u) / params.width + 2u;
}

// How many rows may have no elements.
fn may_be_empty() -> u32 {
  return 0u;
}

fn boundary(s: u32) -> u32 {
  return select(params.n, s * params.width, s <= (params.n - 1u) / params.width);
}

// The first boundary past the element `at`. All lanes call it together.
fn first_past(at: u32, lane: u32, width: u32) -> u32 {
  return at / params.width + 1u;
}

fn all_work() -> u32 {
  return params.n / 16u + 1u;
}

// The element, a multiple of 32, up to which so much is to do: all rows are alike.
fn place_of(work: u32, lane: u32, width: u32) -> u32 {
  return select(work / 2u * 32u, params.n, work >= all_work());
}
