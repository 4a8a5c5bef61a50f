// segments/offsets: where segments begin and end, by their offsets.

// An offset, or n if it is past that.
u32 segment_begin(__global const u32 *offsets, Params params, u32 segment, u32 n) {
  const u32 at = params.offsets_offset + segment * OFFSET_WORDS;
  u32 past = 0u;
  for (u32 i = 1u; i < OFFSET_WORDS; i++) { past |= offsets[at + i]; }
  return past == 0u ? min(offsets[at], n) : n;
}

u32 segment_end(__global const u32 *offsets, Params params, u32 segment, u32 n) {
  return segment_begin(offsets, params, segment + 1u, n);
}
