// segments/offsets: where segments begin and end, by their offsets.

// An offset, or n if it is past that.
FUNCTION u32 segment_begin(const u32 *offsets, const Params &params, u32 segment, u32 n) {
  // Of 8 bytes each 2^31 offsets have 2^32 words.
  const u32 *own = offsets + params.offsets_offset + (size_t)segment * OFFSET_WORDS;
  u32 past = 0u;
  for (u32 i = 1u; i < OFFSET_WORDS; i++) { past |= own[i]; }
  return past == 0u ? min(own[0], n) : n;
}

FUNCTION u32 segment_end(const u32 *offsets, const Params &params, u32 segment, u32 n) {
  return segment_begin(offsets, params, segment + 1u, n);
}
