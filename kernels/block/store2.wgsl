// block/store2: the other half of block/pack2.

@group(0) @binding(1) var<storage, read_write> output: array<Pack>;

// Stores the elements of a pack that lie before `n`.
fn store_pack(index: u32, n: u32, v: Pack) {
  let first = index * PACK;
  let at = params.output_offset + index;
  if (first + 0u < n) { output[at].x = v.x; }
  if (first + 1u < n) { output[at].y = v.y; }
}
