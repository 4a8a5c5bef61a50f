// block/scan: a workgroup's elements scanned in the order of its invocations, in workgroup memory (Hillis and Steele).

typedef struct {
  T before;
  T total;
} BlockScan;

BlockScan block_exclusive_scan(T v, u32 thread, __local T *scan_shared) {
  workgroup_barrier();
  scan_shared[thread] = v;
  T running = v;
  for (u32 delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroup_barrier();
    const T left = thread >= delta ? scan_shared[thread - delta] : identity();
    workgroup_barrier();
    running = combine(left, running);
    scan_shared[thread] = running;
  }
  workgroup_barrier();
  BlockScan result = {thread > 0u ? scan_shared[thread - 1u] : identity(), scan_shared[WORKGROUP - 1u]};
  return result;
}
