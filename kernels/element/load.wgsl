// element/load: elements are loaded PACK at a time.

// The pack at `index`; elements from `n` on are `filler`.
fn load_pack(index: u32, n: u32, filler: T) -> Pack {
  let first = index * PACK;
  var v: Pack;
  // each lane
  v.LANE = filler;
  if (first < n) {
    let pack = load_input(params.input_offset + index);
    // the first lane
    v.LANE = pack.LANE;
    // each lane but the first
    if (first + LANE < n) { v.LANE = pack.LANE; }
  }
  return v;
}
