// workgroup/claim_barrier: places at a counter of the subgroup's own, by a load and a store that the subgroup's barriers order.
// WGSL alone: the planner takes it where the device has subgroup barriers, and workgroup/claim_atomic where it has none. CUDA C
// and OpenCL C have `subgroup_claim` in their subgroup preludes.

// Takes places for the peers at a count in subgroup_counts: this lane's place.
fn subgroup_claim(cell: u32, peers: Peers) -> u32 {
  let place = atomicLoad(&subgroup_counts[cell]) + peers.before;
  subgroupBarrier();
  if (peers.last) { atomicStore(&subgroup_counts[cell], place + 1u); }
  subgroupBarrier();
  return place;
}
