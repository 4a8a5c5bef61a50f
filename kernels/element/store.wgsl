// element/store: the other half of element/load.

// Stores the elements of a pack that lie before `n`.
fn store_pack(index: u32, n: u32, v: Pack) {
  let first = index * PACK;
  let at = params.output_offset + index;
  // each lane
  if (first + LANE < n) { output[at].LANE = v.LANE; }
}
