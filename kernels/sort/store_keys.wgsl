// sort/store_keys: keys of whole words, each to its target. They stand in the part from `begin` on, a row apart.

fn store_keys(
  destination: u32, begin: u32, count: u32, sorted: ptr<function, array<Key, BATCH>>, targets: ptr<function, array<u32, BATCH>>
) {
  if (destination == BUFFER_TEMP) {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      if (begin + k * WORKGROUP < count) { store_temp((*targets)[k], key_restored((*sorted)[k])); }
    }
  } else {
    // unroll
    for (var k = 0u; k < BATCH; k++) {
      if (begin + k * WORKGROUP < count) { store_output(params.output_offset + (*targets)[k], key_restored((*sorted)[k])); }
    }
  }
}
