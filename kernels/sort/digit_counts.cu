// sort/digit_counts: counts the digits of every place of every key in one read. The last workgroup to arrive turns the counts into
// offsets and says which passes are needed.

#define TILE (WORKGROUP * ITEMS)

__shared__ u32 shared_arrivals;

extern "C" __global__ void __launch_bounds__(WORKGROUP) sort_digit_counts(ARGUMENTS) {
  follow_predecessor();
  const u32 thread = threadIdx.x;
  const Subgroup sg = subgroup_of(thread);
  input += params.input_offset;
  // 1. Clear this workgroup's counts. Where memory allows it lanes count in copies of their own: a bank serves one at a time.
  for (u32 i = thread; i < COUNTS * COPIES; i += WORKGROUP) { shared_counts[i] = 0u; }
  workgroup_barrier();
  // 2. Count the tiles that are this workgroup's turn.
  for (u32 tile = blockIdx.x; tile < params.tiles; tile += params.groups) {
    const u32 first = tile * TILE + thread;
    StoredKey keys[ITEMS];
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) { keys[k] = load_input(input, min(first + k * WORKGROUP, params.n - 1u)); }
#pragma unroll
    for (u32 k = 0u; k < ITEMS; k++) {
      if (first + k * WORKGROUP < params.n) {
#pragma unroll
        for (u32 place = 0u; place < PLACES; place++) {
          if (place >= FIRST_PLACE) {
            atomicAdd(&shared_counts[(place * DIGITS + key_digit(keys[k], place)) * COPIES + thread % COPIES], 1u);
          }
        }
      }
    }
  }
  workgroup_barrier();
  // 3. Add them to the whole.
  for (u32 i = thread; i < COUNTS; i += WORKGROUP) {
    u32 count = 0u;
    for (u32 copy = 0u; copy < COPIES; copy++) { count += shared_counts[i * COPIES + (copy + thread) % COPIES]; }
    if (count > 0u) { atomicAdd(&bins[i], count); }
  }
  workgroup_barrier();
  admit_successor();
  // 4. The last workgroup goes on, and leaves the scratch clean.
  if (thread == 0u) { shared_arrivals = atomicAdd(&bins[COUNTS], 1u) + 1u; }
  if (workgroup_uniform_load(&shared_arrivals) < params.groups) { return; }
  digit_offsets(bins, counts, params, thread, sg);
}
