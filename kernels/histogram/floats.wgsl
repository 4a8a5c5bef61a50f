// histogram/floats: sums are floats, whose bits are words. WGSL has no atomics of floats: a word is replaced where it is still what it was.

fn total_of(a: u32, b: u32) -> u32 {
  return bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
}

fn add_to_output(place: u32, amount: u32) {
  var old = atomicLoad(&output[place]);
  loop {
    let replaced = atomicCompareExchangeWeak(&output[place], old, total_of(old, amount));
    if (replaced.exchanged) { break; }
    old = replaced.old_value;
  }
}
