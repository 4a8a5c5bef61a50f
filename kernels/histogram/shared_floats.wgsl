// histogram/shared_floats: a sum in workgroup memory is of floats, whose bits are words.

fn add_to_shared(place: u32, amount: u32) {
  var old = atomicLoad(&counts[place]);
  loop {
    let replaced = atomicCompareExchangeWeak(&counts[place], old, total_of(old, amount));
    if (replaced.exchanged) { break; }
    old = replaced.old_value;
  }
}
