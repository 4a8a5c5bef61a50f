// block/store4: the other half of block/pack4.

@group(0) @binding(1) var<storage, read_write> output: array<Pack>;

// Stores the elements of a pack that lie before `n`.
fn store_pack(index: u32, n: u32, v: Pack) {
  let first = index * PACK;
  let at = params.output_offset + index;
  if (first + 0u < n) { output[at].x = v.x; }
  if (first + 1u < n) { output[at].y = v.y; }
  if (first + 2u < n) { output[at].z = v.z; }
  if (first + 3u < n) { output[at].w = v.w; }
}
