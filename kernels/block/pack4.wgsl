// block/pack4: elements are loaded four elements at a time.

@group(0) @binding(0) var<storage, read_write> input: array<Pack>;

const PACK: u32 = 4u;

// The pack at `index`; elements from `n` on are `filler`.
fn load_pack(index: u32, n: u32, filler: T) -> Pack {
  let first = index * PACK;
  var v = Pack(filler);
  if (first < n) {
    let pack = input[params.input_offset + index];
    v.x = pack.x;
    if (first + 1u < n) { v.y = pack.y; }
    if (first + 2u < n) { v.z = pack.z; }
    if (first + 3u < n) { v.w = pack.w; }
  }
  return v;
}
