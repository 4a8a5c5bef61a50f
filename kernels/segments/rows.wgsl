// segments/rows: where segments begin and end that are rows of one width.

fn segment_begin(segment: u32, n: u32) -> u32 {
  return min(segment * params.width, n);
}

fn segment_end(segment: u32, n: u32) -> u32 {
  return min((segment + 1u) * params.width, n);
}
