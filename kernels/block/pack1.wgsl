// block/pack1: elements are loaded one element at a time.

@group(0) @binding(0) var<storage, read_write> input: array<Pack>;

const PACK: u32 = 1u;

// The pack at `index`; elements from `n` on are `filler`.
fn load_pack(index: u32, n: u32, filler: T) -> Pack {
  if (index < n) { return input[params.input_offset + index]; }
  return filler;
}
