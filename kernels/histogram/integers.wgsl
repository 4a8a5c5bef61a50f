// histogram/integers: counts and sums are integers.

fn total_of(a: u32, b: u32) -> u32 {
  return a + b;
}

fn add_to_output(place: u32, amount: u32) {
  atomicAdd(&output[place], amount);
}
