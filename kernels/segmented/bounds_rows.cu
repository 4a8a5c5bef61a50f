// segmented/bounds_rows: the boundaries of rows, which all have one width.

FUNCTION u32 boundaries(const Params &params) {
  return (params.n - 1u) / params.width + 2u;
}

// How many rows may have no elements.
FUNCTION u32 may_be_empty(const Params &params) {
  return 0u;
}

FUNCTION u32 boundary(InputValues input_values, const Params &params, u32 s) {
  return s <= (params.n - 1u) / params.width ? s * params.width : params.n;
}

// The first boundary past the element `at`. All lanes call it together.
FUNCTION u32 first_past(InputValues input_values, const Params &params, u32 at, Subgroup sg) {
  return at / params.width + 1u;
}

FUNCTION u32 all_work(const Params &params) {
  return params.n / 16u + 1u;
}

// The element, a multiple of 32, up to which so much is to do: all rows are alike.
FUNCTION u32 place_of(InputValues input_values, const Params &params, u32 work, Subgroup sg) {
  return work >= all_work(params) ? params.n : work / 2u * 32u;
}
