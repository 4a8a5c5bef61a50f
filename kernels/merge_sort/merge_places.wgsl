// merge_sort/merge_places: merges runs in workgroup memory, each invocation the keys that go to its places.

// Merges the keys that go to an invocation's places, from `own` on: of two runs up to the place where `one` ends, and of two others from
// where `two` begins. Those between stay where they are.
fn merge_places(
  own: u32, one: Runs, one_ends: u32, two: Runs, two_begins: u32, keys: ptr<function, array<Key, ITEMS>>,
  origins: ptr<function, array<u32, ITEMS>>
) {
  // How many of the left run's keys are among those before these places?
  let before = own - one.begin;
  var low = before - min(before, one.end - one.middle);
  var high = min(before, one.middle - one.begin);
  while (low < high) {
    let half_way = (low + high) / 2u;
    if (ordered_before(key_at(one.middle + before - 1u - half_way), key_at(one.begin + half_way))) {
      high = half_way;
    } else {
      low = half_way + 1u;
    }
  }
  // Merge from there: of equal keys the left run's come first.
  var left = one.begin + low;
  var right = one.middle + before - low;
  var middle = one.middle;
  var end = one.end;
  var left_key = key_at(left);
  var right_key = key_at(right);
  // unroll
  for (var k = 0u; k < ITEMS; k++) {
    let place = own + k;
    if ((place == one_ends) | (place == two_begins)) {
      left = place;
      middle = select(NOWHERE, two.middle, place == two_begins);
      right = select(0u, two.middle, place == two_begins);
      end = select(0u, two.end, place == two_begins);
      left_key = key_at(left);
      right_key = key_at(right);
    }
    let from_right = (right < end) & ((left == middle) | ordered_before(right_key, left_key));
    (*keys)[k] = select(left_key, right_key, from_right);
    (*origins)[k] = origin_at(select(left, right, from_right));
    left += select(1u, 0u, from_right);
    right += select(0u, 1u, from_right);
    let next = key_at(select(left, right, from_right));
    left_key = select(next, left_key, from_right);
    right_key = select(right_key, next, from_right);
  }
}
