// workgroup/tile_totals: the totals of a tile's subgroups, combined in their order.

__shared__ T subgroup_totals[MAX_SUBGROUPS];

struct TileTotals {
  // Of the subgroups before the invocation's own, and of all.
  T before;
  T all;
};

// All invocations call it together, each with its subgroup's total, and not again before another barrier.
FUNCTION TileTotals tile_totals(T total, Subgroup sg) {
  if (sg.lane == 0u) { subgroup_totals[sg.id] = total; }
  workgroup_barrier();
  TileTotals totals = {identity(), identity()};
  for (u32 s = 0u; s < sg.count; s++) {
    if (s == sg.id) { totals.before = totals.all; }
    totals.all = combine(totals.all, subgroup_totals[s]);
  }
  return totals;
}
