// element/store: the other half of element/load.

@group(0) @binding(1) var<storage, read_write> output: array<Pack>;

// Stores the elements of a pack that lie before `n`.
fn store_pack(index: u32, n: u32, v: Pack) {
  let first = index * PACK;
  let at = params.output_offset + index;
  // each lane
  if (first + LANE < n) { output[at].LANE = v.LANE; }
}
