// segmented/bounds_rows: the boundaries of rows, which all have one width.

u32 boundaries(Params params) {
  return (params.n - 1u) / params.width + 2u;
}

// How many rows may have no elements.
u32 may_be_empty(Params params) {
  return 0u;
}

u32 boundary(InputValues input_values, Params params, u32 s) {
  return s <= (params.n - 1u) / params.width ? s * params.width : params.n;
}

// The first boundary past the element `at`. All lanes call it together.
u32 first_past(InputValues input_values, Params params, u32 at, Subgroup sg) {
  return at / params.width + 1u;
}

u32 all_work(Params params) {
  return params.n / 16u + 1u;
}

// The element, a multiple of 32, up to which so much is to do: all rows are alike.
u32 place_of(InputValues input_values, Params params, u32 work, Subgroup sg) {
  return work >= all_work(params) ? params.n : work / 2u * 32u;
}
