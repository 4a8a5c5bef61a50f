// sort/store_keys_packed: keys of which several share a word. Keys of one digit go to neighbouring places, so that most words are
// one invocation's, which stores them whole. Only at the ends of such a run a word is changed in part.

const KEY_BITS: u32 = 32u / KEY_SHARE;
const KEY_MASK: u32 = (1u << KEY_BITS) - 1u;

fn digit_at(at: u32) -> u32 {
  return ordered_digit(exchanged_key(at), params.place);
}

fn store_keys(
  destination: u32, begin: u32, count: u32, sorted: ptr<function, array<Key, BATCH>>, targets: ptr<function, array<u32, BATCH>>
) {
  let offset = select(params.output_offset, 0u, destination == BUFFER_TEMP);
  for (var k = 0u; k < BATCH; k++) {
    let at = begin + k * WORKGROUP;
    if (at >= count) { break; }
    // The first key of a word, or of a run of one digit, stores those behind it too.
    let first = offset + (*targets)[k];
    let digit = ordered_digit((*sorted)[k], params.place);
    if (first % KEY_SHARE > 0u && at > 0u && digit_at(max(at, 1u) - 1u) == digit) { continue; }
    var value = 0u;
    var mask = 0u;
    for (var next = at; next < min(count, at + KEY_SHARE - first % KEY_SHARE); next++) {
      let key = exchanged_key(next);
      if (ordered_digit(key, params.place) != digit) { break; }
      let shift = KEY_BITS * ((first + next - at) % KEY_SHARE);
      value |= key_restored(key) << shift;
      mask |= KEY_MASK << shift;
    }
    if (destination == BUFFER_TEMP) {
      merge_temp(first / KEY_SHARE, mask, value);
    } else {
      merge_output(first / KEY_SHARE, mask, value);
    }
  }
}
