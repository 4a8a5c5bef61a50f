// segments/offsets: where segments begin and end, by their offsets.

// An offset, or n if it is past that.
fn segment_begin(segment: u32, n: u32) -> u32 {
  let at = params.offsets_offset + segment * OFFSET_WORDS;
  var past = 0u;
  for (var i = 1u; i < OFFSET_WORDS; i++) { past |= offsets[at + i]; }
  return select(n, min(offsets[at], n), past == 0u);
}

fn segment_end(segment: u32, n: u32) -> u32 {
  return segment_begin(segment + 1u, n);
}
