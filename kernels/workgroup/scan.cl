// workgroup/scan: a workgroup's elements scanned in the order of its invocations, in workgroup memory (Hillis and Steele; two buffers
// in turn, as GPU Gems 3, example 39-1).

typedef struct {
  T before;
  T total;
} BlockScan;

BlockScan block_exclusive_scan(T v, u32 thread, __local T *scan_shared) {
  workgroup_barrier();
  scan_shared[thread] = v;
  T running = v;
  u32 buffer = 0u;
  for (u32 delta = 1u; delta < WORKGROUP; delta <<= 1u) {
    workgroup_barrier();
    if (thread >= delta) { running = combine(scan_shared[buffer + thread - delta], running); }
    buffer = WORKGROUP - buffer;
    scan_shared[buffer + thread] = running;
  }
  workgroup_barrier();
  BlockScan result = {identity(), scan_shared[buffer + WORKGROUP - 1u]};
  if (thread > 0u) { result.before = scan_shared[buffer + thread - 1u]; }
  return result;
}
