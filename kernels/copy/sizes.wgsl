// copy/sizes: parameters of the launches behind it that follow from how many elements there are, which only the device knows. In OpenCL
// and CUDA kernels compute theirs by themselves.

const ENTRY: u32 = 13u;

// One step on the way to a parameter: a kind and two numbers.
fn size_step(size: u32, kind: u32, a: u32, b: u32) -> u32 {
  switch kind {
    // So many parts, the last of which may be smaller.
    case 1u: { return size / a + select(0u, 1u, size % a != 0u); }
    case 2u: { return size * a; }
    case 3u: { return size + a; }
    // What lies behind so many, and at most so many.
    case 4u: { return min(size - min(size, a), b); }
    default: { return size; }
  }
}

@compute @workgroup_size(WORKGROUP)
fn sizes(@builtin(local_invocation_index) thread: u32) {
  let length = min(length_at[params.length_offset], params.capacity);
  for (var i = thread; i < params.sizes; i += WORKGROUP) {
    var size = length;
    for (var k = 0u; k < 4u; k++) {
      let step = i * ENTRY + 1u + 3u * k;
      size = size_step(size, table[step], table[step + 1u], table[step + 2u]);
    }
    uniforms[table[i * ENTRY]] = size;
  }
}
