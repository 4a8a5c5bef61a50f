// merge_sort/merge_places: merges runs in workgroup memory, each invocation the keys that go to its places.

// Merges the keys that go to an invocation's places, from `own` on: of two runs up to the place where `one` ends, and of two others from
// where `two` begins. Those between stay where they are.
FUNCTION void merge_places(u32 own, Runs one, u32 one_ends, Runs two, u32 two_begins, Key *keys, u32 *origins) {
  // How many of the left run's keys are among those before these places?
  const u32 before = own - one.begin;
  u32 low = before - min(before, one.end - one.middle);
  u32 high = min(before, one.middle - one.begin);
  while (low < high) {
    const u32 half_way = (low + high) / 2u;
    if (ordered_before(key_at(one.middle + before - 1u - half_way), key_at(one.begin + half_way))) {
      high = half_way;
    } else {
      low = half_way + 1u;
    }
  }
  // Merge from there: of equal keys the left run's come first.
  u32 left = one.begin + low;
  u32 right = one.middle + before - low;
  u32 middle = one.middle;
  u32 end = one.end;
  Key left_key = key_at(left);
  Key right_key = key_at(right);
#pragma unroll
  for (u32 k = 0u; k < ITEMS; k++) {
    const u32 place = own + k;
    if ((place == one_ends) | (place == two_begins)) {
      left = place;
      middle = place == two_begins ? two.middle : NOWHERE;
      right = place == two_begins ? two.middle : 0u;
      end = place == two_begins ? two.end : 0u;
      left_key = key_at(left);
      right_key = key_at(right);
    }
    const bool from_right = (right < end) & ((left == middle) | ordered_before(right_key, left_key));
    keys[k] = from_right ? right_key : left_key;
    origins[k] = origin_at(from_right ? right : left);
    left += from_right ? 0u : 1u;
    right += from_right ? 1u : 0u;
    const Key next = key_at(from_right ? right : left);
    left_key = from_right ? left_key : next;
    right_key = from_right ? next : right_key;
  }
}
