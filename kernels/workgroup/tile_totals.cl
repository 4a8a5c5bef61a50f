// workgroup/tile_totals: the totals of a tile's subgroups, combined in their order.

typedef struct {
  // Of the subgroups before the invocation's own, and of all.
  T before;
  T all;
} TileTotals;

// All invocations call it together, each with its subgroup's total, and not again before another barrier.
TileTotals tile_totals(T total, Subgroup sg, __local T *subgroup_totals) {
  if (sg.lane == 0u) { subgroup_totals[sg.id] = total; }
  workgroup_barrier();
  TileTotals totals = {identity(), identity()};
  for (u32 s = 0u; s < sg.count; s++) {
    if (s == sg.id) { totals.before = totals.all; }
    totals.all = combine(totals.all, subgroup_totals[s]);
  }
  return totals;
}
