// block/store1: the other half of block/pack1.

@group(0) @binding(1) var<storage, read_write> output: array<Pack>;

// Stores the elements of a pack that lie before `n`.
fn store_pack(index: u32, n: u32, v: Pack) {
  if (index < n) { output[params.output_offset + index] = v; }
}
