// histogram/shared_integers: a sum in workgroup memory is of integers.

fn add_to_shared(place: u32, amount: u32) {
  atomicAdd(&counts[place], amount);
}
