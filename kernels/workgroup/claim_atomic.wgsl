// workgroup/claim_atomic: places at a counter of the subgroup's own, where subgroups have no barrier: the first of the peers
// takes them all. WGSL alone: the planner takes workgroup/claim_barrier where the device has subgroup barriers. CUDA C and
// OpenCL C have `subgroup_claim` in their subgroup preludes.

// Takes places for the peers at a count in subgroup_counts: this lane's place.
fn subgroup_claim(cell: u32, peers: Peers) -> u32 {
  var base = 0u;
  if (peers.before == 0u) { base = atomicAdd(&subgroup_counts[cell], peers.count); }
  return subgroup_shuffle_word(base, peers.leader) + peers.before;
}
