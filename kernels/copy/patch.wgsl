// copy/patch: changes bits of one word. The host writes whole words alone, and a caller's bytes may end within one.

@compute @workgroup_size(WORKGROUP)
fn patch_word() {
  atomicAnd(&word[params.word_offset], ~params.mask);
  atomicOr(&word[params.word_offset], params.value & params.mask);
}
