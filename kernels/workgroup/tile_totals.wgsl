// workgroup/tile_totals: the totals of a tile's subgroups, combined in their order.

var<workgroup> subgroup_totals: array<T, MAX_SUBGROUPS>;

struct TileTotals {
  // Of the subgroups before the invocation's own, and of all.
  before: T,
  all: T,
}

// All invocations call it together, each with its subgroup's total, and not again before another barrier.
fn tile_totals(total: T, lane: u32, subgroup: u32, subgroups: u32) -> TileTotals {
  if (lane == 0u) { subgroup_totals[subgroup] = total; }
  workgroupBarrier();
  var totals = TileTotals(identity(), identity());
  for (var s = 0u; s < subgroups; s++) {
    if (s == subgroup) { totals.before = totals.all; }
    totals.all = combine(totals.all, subgroup_totals[s]);
  }
  return totals;
}
